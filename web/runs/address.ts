export interface RunFilter {
  /** A key of RUN_STATES. */
  readonly state?: string
  readonly project?: string
  readonly words?: string
  readonly page?: number
}
export interface RunView {
  /** Place of the task in the plan, such as 2.1. It stays the same when the task is run again. */
  readonly task?: string
  /** The text searched for in the log. */
  readonly find?: string
}
export interface HealthFilter {
  readonly show?: 'gaps' | 'receipts' | 'aside'
  readonly project?: string
  readonly plugin?: string
  readonly connectionId?: number
  readonly scopeId?: string
  readonly page?: number
}
