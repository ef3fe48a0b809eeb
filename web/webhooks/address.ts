export interface WebhookListSearch {
  readonly create?: true
}
export interface WebhookSearch {
  /** The delivery that is open. */
  readonly delivery?: number
}
