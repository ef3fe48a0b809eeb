/** What is found out once a task: its subtasks share the options object. */
import type { TaskRun } from '../spec/subtask.ts'

const known = new WeakMap<object, Map<string, Promise<unknown>>>()

/** The answer to a question that stays the same as long as the task takes; one that failed is asked again. */
export function oncePerTask<Answer>(
  { options }: Pick<TaskRun, 'options'>,
  question: string,
  ask: () => Promise<Answer>,
): Promise<Answer> {
  const answers = known.get(options) ?? new Map<string, Promise<unknown>>()
  known.set(options, answers)
  const answer = (answers.get(question) as Promise<Answer> | undefined) ?? ask()
  answers.set(question, answer)
  answer.catch(() => answers.delete(question))
  return answer
}
