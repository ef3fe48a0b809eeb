import type { Fence } from './fence.ts'

/** Where tasks run: in threads of this process, or by workers elsewhere. State lives in the database, not here. */
export interface DispatchedTask {
  readonly id: number
  /** Tasks with an equal one share the quota of a connection, and are best run where they can share what they know of it. */
  readonly connection: string | null
}

/** A task for whoever is to run it elsewhere. */
export interface HandedTask extends DispatchedTask {
  /** Nothing else may run in the same process. */
  readonly isAlone: boolean
  readonly plugin: string
  readonly pipelineId: number
  readonly project: string
  /** The server that hands it out, and the tokens of what it has leased for it: they go to whoever takes the task. */
  readonly leaseHolder: string
  readonly leases: readonly string[]
}

/** Why an attempt at a task ended before the task did. */
export interface Interruption {
  /** Equal for all tasks that it interrupted. */
  readonly incident: string
  /** Whoever ran it ended without a word, and the task may be the reason. */
  readonly isLoss: boolean
  readonly cause: string
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
      /** It lost the database, and may continue from where it was when that is back. */
      readonly isAway?: boolean
    }
  /** It continues from where it was. Without an interruption: it could not be handed out, or has lost the database. */
  | { readonly status: 'TASK_RESUME'; readonly message: string; readonly interruption?: Interruption }

/** What a task that begins is set to, besides its state. */
export const BEGUN = { finished_at: null, message: '', error_name: '', failed_sub_task: '' }

/** Stores that a task begins; `isStored`: whoever runs it has done so. False: it may not begin. */
export type Begin = (isStored?: boolean) => Promise<boolean>

export interface TaskDispatch {
  /** Kept open by whoever hands out tasks. */
  readonly fence: Fence
  /**
   * Runs a stored task to its end; a given signal ends it within a second. `begin` is called when there is a place for it.
   * Undefined when it did not begin: the signal came before, or `begin` gave false. Rejects only when that does.
   */
  run(task: HandedTask, signal: AbortSignal, begin: Begin): Promise<TaskOutcome | undefined>
  /**
   * The end of a task that a worker runs, or has run, for a server that is gone: with the leases that it has. Undefined
   * when there is no such worker.
   */
  follow?(
    task: DispatchedTask,
    signal: AbortSignal,
    begin: Begin,
  ): Promise<{ readonly outcome: TaskOutcome | undefined } | undefined>
  close(): Promise<void>
}
