import type { Fence } from './fence.ts'

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
      /** It lost the database, and may go on from where it was when that is back. */
      readonly isAway?: boolean
    }

export interface TaskDispatch {
  /** Kept open by whoever hands out tasks. */
  readonly fence: Fence
  /**
   * Runs a stored task to its end; a given signal ends it within a second. `begin` is called when there is a place for it.
   * Undefined when it did not begin: the signal came before, or `begin` gave false. Rejects only when that does.
   */
  run(task: DispatchedTask, signal: AbortSignal, begin: () => Promise<boolean>): Promise<TaskOutcome | undefined>
  close(): Promise<void>
}
