/** Checks that the sender of a delivery knows the secret. A comparison takes the same time whatever was sent. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const digest = (text: string): Buffer => createHash('sha256').update(text).digest()

export const isSameText = (one: string, other: string): boolean => timingSafeEqual(digest(one), digest(other))

/**
 * Checks a header such as `sha256=0a1b…`, a signature of the body; with an empty name it is the signature alone. There may be
 * several, separated by commas, while secrets change.
 */
export function isSignedBySha256(header: string | undefined, body: Buffer, secret: string, name = 'sha256'): boolean {
  const signed = createHmac('sha256', secret).update(body).digest('hex')
  const expected = name ? `${name}=${signed}` : signed
  return (header ?? '').split(',').some((signature) => isSameText(signature.trim(), expected))
}

const STANDARD_PREFIX = 'whsec_'

/** Checks a signature as in https://www.standardwebhooks.com: id, time and body, signed with a key given as `whsec_` and base64. */
export function isSignedAsStandard(
  headers: Readonly<Record<string, string | undefined>>,
  body: Buffer,
  secret: string,
): boolean {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  const key = Buffer.from(secret.replace(STANDARD_PREFIX, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${id}.${time}.`).update(body).digest('base64')
  return signatures.split(' ').some((signature) => isSameText(signature, `v1,${expected}`))
}

export const newStandardSecret = (): string => `${STANDARD_PREFIX}${randomBytes(32).toString('base64')}`
