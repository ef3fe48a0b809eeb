import type { Task } from '../api/description.ts'

/** What has ended has not always gone well. */
export const failedWords = (tasks: readonly Pick<Task, 'status'>[]): string => {
  const failed = tasks.filter(({ status }) => status === 'TASK_FAILED').length
  return failed > 0 ? `, ${failed} of them failed` : ''
}
