/** What processes that ask the same source know of each other's requests: a store that all of them see. */

/** What became of requests that were reserved, since the last report. */
export interface QuotaReport {
  /** Of the source, by the grant that they were reserved with. */
  readonly window: number
  /** Reserved before, and now ended or not needed. */
  readonly ended: number
  /** Those of them about which the source said nothing: they count as used. */
  readonly silent: number
  /** The least that the source said is left, by an answer to one of them. */
  readonly told: { readonly remaining: number; readonly resetsInMs: number } | undefined
  /** One of them was sent to find out: what came of it. */
  readonly probe: 'none' | 'told' | 'unlimited' | 'failed'
  /** Whether more are to be reserved. */
  readonly wantsMore: boolean
}

export interface QuotaGrant {
  /** Requests that may be sent before the source's window ends. */
  readonly granted: number
  readonly window: number
  readonly endsInMs: number
  /** Nobody knows yet what the source allows: the one request that was granted finds out. */
  readonly isProbe: boolean
  /** Others find out, or have reserved what is left: it is worth asking again after so long. */
  readonly askAgainInMs?: number
}

export interface BudgetStore {
  ask(name: string, report: QuotaReport): Promise<QuotaGrant>
  /**
   * Books so many starts of an even pace. Gives how many milliseconds from now the place of the first is; negative: how
   * long ago it was.
   */
  book(name: string, count: number, intervalMs: number): Promise<number>
}
