import type { Fence } from './fence.ts'

/** A task to run, in a thread of this process or by a worker. All state is in the database. */
interface DispatchedTask {
  readonly id: number
  /** Tasks with the same connection share its request quota. They should run where they can share what they know about it. */
  readonly connection: string | null
}

/** A task with all that a worker needs to run it. */
export interface HandedTask extends DispatchedTask {
  /** True when nothing else may run in the same process. */
  readonly isAlone: boolean
  readonly plugin: string
  readonly pipelineId: number
  readonly project: string
  /** The server that hands the task out, and the tokens of its leases, which pass to the worker that takes the task. */
  readonly leaseHolder: string
  readonly leases: readonly string[]
}

/** Why an attempt at a task ended before the task did. */
export interface Interruption {
  /** The same for all tasks that were interrupted together. */
  readonly incident: string
  /** True when the process that ran the task died silently, so that the task may be the reason. */
  readonly isLoss: boolean
  readonly cause: string
}

export type TaskOutcome =
  | { readonly status: 'TASK_CANCELLED' }
  /** `message` says what is missing or odd all the same; empty when all went well. */
  | { readonly status: 'TASK_COMPLETED'; readonly message: string }
  | {
      readonly status: 'TASK_FAILED'
      readonly message: string
      readonly errorName: string
      readonly failedSubTask: string
      /** True when the task lost the database. It may continue where it was when the database is back. */
      readonly isAway?: boolean
    }
  /** The task continues where it was. Without an interruption it could not be handed out, or it has lost the database. */
  | { readonly status: 'TASK_RESUME'; readonly message: string; readonly interruption?: Interruption }

/** The values of a task that begins, besides its state. */
export const BEGUN = { finished_at: null, message: '', error_name: '', failed_sub_task: '' }

/** Stores that a task begins; with `isStored` the process that runs it has done so. Returns false when it may not begin. */
export type Begin = (isStored?: boolean) => Promise<boolean>

export interface TaskDispatch {
  /** The process that hands out tasks keeps the fence open. */
  readonly fence: Fence
  /**
   * Runs a stored task to its end; aborting the signal ends it within a second. `begin` is called when there is a place for
   * it. Returns undefined when the task did not begin, because the signal was aborted or `begin` returned false. Rejects only
   * when `begin` rejects.
   */
  run(task: HandedTask, signal: AbortSignal, begin: Begin): Promise<TaskOutcome | undefined>
  /**
   * Waits for the end of a task that a worker runs, or has run, for a server that is gone. The worker has the leases. Returns
   * undefined when there is no such worker.
   */
  follow?(
    task: DispatchedTask,
    signal: AbortSignal,
    begin: Begin,
  ): Promise<{ readonly outcome: TaskOutcome | undefined } | undefined>
  close(): Promise<void>
}
