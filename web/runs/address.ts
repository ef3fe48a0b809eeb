export interface RunFilter {
  /** A word of RUN_STATES. */
  readonly state?: string
  readonly project?: string
  readonly words?: string
  readonly page?: number
}
export interface RunView {
  /** Place in the plan, such as 2.1: it stays when a task is run again. */
  readonly task?: string
  /** What the log is searched for. */
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
