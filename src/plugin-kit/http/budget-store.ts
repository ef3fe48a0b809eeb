/** A store through which processes that ask the same source know of each other's requests. */

/** A report of what happened to reserved requests since the last one. */
export interface QuotaReport {
  /** The window of the source in the grant with which they were reserved. */
  readonly window: number
  /** Number of reserved requests that have ended or are not needed. */
  readonly ended: number
  /** Number of ended requests whose answer said nothing about the quota: they count as used. */
  readonly silent: number
  /** The smallest remaining quota that an answer to one of them gave. */
  readonly told: { readonly remaining: number; readonly resetsInMs: number } | undefined
  /** Result of the request that was sent to find out the quota, if it is among them. */
  readonly probe: 'none' | 'told' | 'unlimited' | 'failed'
  /** True if more requests should be reserved. */
  readonly wantsMore: boolean
}

export interface QuotaGrant {
  /** Requests that may be sent before the source's window ends. */
  readonly granted: number
  readonly window: number
  readonly endsInMs: number
  /** Nobody knows the source's quota yet: the one request that was granted finds it out. */
  readonly isProbe: boolean
  /** Other processes are finding it out, or have reserved the rest. Ask again after this time. */
  readonly askAgainInMs?: number
}

export interface BudgetStore {
  ask(name: string, report: QuotaReport): Promise<QuotaGrant>
  /**
   * Books `count` starts at an even pace. Returns the milliseconds from now until the first of them; negative if it is in the
   * past.
   */
  book(name: string, count: number, intervalMs: number): Promise<number>
}
