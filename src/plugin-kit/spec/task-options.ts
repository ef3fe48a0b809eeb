/** The options of a plugin's tasks, for those who write plans by hand. */

export interface TaskOption {
  readonly kind: 'text' | 'number' | 'flag' | 'list' | 'object'
  readonly label: string
  readonly isRequired?: boolean
  /** Value in a template; every required option has one. */
  readonly example?: unknown
}
export type TaskOptions = Readonly<Record<string, TaskOption>>
