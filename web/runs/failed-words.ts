import type { Task } from '../api/description.ts'

/** Adds the number of failed tasks, because a task that has ended has not always succeeded. */
export const failedWords = (tasks: readonly Pick<Task, 'status'>[]): string => {
  const failed = tasks.filter(({ status }) => status === 'TASK_FAILED').length
  return failed > 0 ? `, ${failed} of them failed` : ''
}
