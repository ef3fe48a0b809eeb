/** What a vendor says is left of a credential's allowance. */
export interface Quota {
  readonly remaining: number
  readonly resetsAt: Date
  /** The endpoint class that it counts for; the request's own when not said. */
  readonly class?: string
  /** What this request used of it, when not 1. */
  readonly cost?: number
}
