import { createHash } from 'node:crypto'

export interface QueuePlace {
  readonly url: string
  /** Installations that share a Redis have queues of their own. */
  readonly name: string
}

export const queueName = (fingerprint: string): string =>
  `weir-${createHash('sha256').update(fingerprint).digest('hex').slice(0, 12)}`
