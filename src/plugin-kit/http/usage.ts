import { byName } from '../../basics/by-name.ts'
export interface UsageCounts {
  /** Requests sent, including every attempt and redirect. */
  requests: number
  /** Answers that vendors charge for: all except 304. */
  counted: number
  /** Charged units: points for GraphQL, otherwise one for each counted answer. */
  cost: number
  retries: number
  waits: number
  /** Body bytes received, after decompression. */
  bytes: number
}

export interface Usage extends Readonly<UsageCounts> {
  readonly classes: Readonly<Record<string, Readonly<UsageCounts>>>
}

const none = (): UsageCounts => ({ requests: 0, counted: 0, cost: 0, retries: 0, waits: 0, bytes: 0 })

/** Counts in total and per endpoint class. */
export function createUsage(): { usage: Usage; count(className: string, what: Partial<UsageCounts>): void } {
  const classes: Record<string, UsageCounts> = byName()
  const usage = { ...none(), classes }
  return {
    usage,
    count(className, what) {
      classes[className] ??= none()
      for (const counts of [usage, classes[className]]) {
        for (const [name, more] of Object.entries(what)) counts[name as keyof UsageCounts] += more
      }
    },
  }
}
