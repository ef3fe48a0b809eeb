/** What tasks of a plugin may be told, for those who write plans by hand. */

export interface TaskOption {
  readonly kind: 'text' | 'number' | 'flag' | 'list' | 'object'
  /** What it means, in a few words. */
  readonly label: string
  readonly isRequired?: boolean
  /** What a template starts with; required ones have one. */
  readonly example?: unknown
}
export type TaskOptions = Readonly<Record<string, TaskOption>>
