/** The remaining quota of a credential, as the vendor gives it. */
export interface Quota {
  readonly remaining: number
  readonly resetsAt: Date
  /** The endpoint class to which it applies; default: that of the request. */
  readonly class?: string
  /** The quota that this request used; default: 1. */
  readonly cost?: number
}
