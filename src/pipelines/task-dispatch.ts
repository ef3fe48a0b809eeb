/** Where tasks run: in threads of this process, or later by workers elsewhere. State lives in the database, not here. */
export interface DispatchedTask {
  readonly id: number
  /** Tasks with an equal one share the quota of a connection, and are best run where they can share what they know of it. */
  readonly connection: string | null
}

export type TaskOutcome =
  | { readonly status: 'TASK_CANCELLED' }
  /** `message`: what is missing all the same, and what was odd; empty when all went well. */
  | { readonly status: 'TASK_COMPLETED'; readonly message: string }
  | {
      readonly status: 'TASK_FAILED'
      readonly message: string
      readonly errorName: string
      readonly failedSubTask: string
    }

export interface TaskDispatch {
  /** Runs a stored task to its end; a given signal ends it within a second. Never rejects. */
  run(task: DispatchedTask, signal: AbortSignal): Promise<TaskOutcome>
  close(): Promise<void>
}
