/** The states of pipelines and tasks, and the transitions that are allowed between them. */

import { TASK_STATUSES, type TaskStatus } from '../../domain/enums.ts'

/** States in which a pipeline or task waits for a worker. */
export const QUEUED = ['TASK_CREATED', 'TASK_RERUN', 'TASK_RESUME'] as const satisfies TaskStatus[]
export const UNFINISHED = [...QUEUED, 'TASK_RUNNING'] as const satisfies TaskStatus[]
export const FINISHED = [
  'TASK_COMPLETED',
  'TASK_FAILED',
  'TASK_CANCELLED',
  'TASK_PARTIAL',
] as const satisfies TaskStatus[]

const NEXT_STATES: Record<TaskStatus, readonly TaskStatus[]> = {
  TASK_CREATED: ['TASK_RUNNING', 'TASK_CANCELLED', 'TASK_FAILED'],
  TASK_RERUN: ['TASK_RUNNING', 'TASK_CANCELLED', 'TASK_FAILED'],
  TASK_RESUME: ['TASK_RUNNING', 'TASK_CANCELLED', 'TASK_FAILED'],
  TASK_RUNNING: ['TASK_RESUME', ...FINISHED],
  TASK_COMPLETED: ['TASK_RERUN', 'TASK_FAILED'],
  TASK_FAILED: ['TASK_RERUN', 'TASK_FAILED'],
  TASK_CANCELLED: ['TASK_RERUN', 'TASK_FAILED'],
  TASK_PARTIAL: ['TASK_RERUN'],
}

export const isFinished = (status: TaskStatus): boolean => (FINISHED as readonly TaskStatus[]).includes(status)
export const mayFollow = (from: TaskStatus, to: TaskStatus): boolean => NEXT_STATES[from].includes(to)
/** The states from which `to` may be reached, for the condition of an update. */
export const statesBefore = (to: TaskStatus): readonly TaskStatus[] =>
  TASK_STATUSES.filter((from) => mayFollow(from, to))
