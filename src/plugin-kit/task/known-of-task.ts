/** Remembers answers for the duration of a task. Its subtasks are recognised by the options object that they share. */
import type { TaskRun } from '../spec/subtask.ts'

const known = new WeakMap<object, Map<string, Promise<unknown>>>()

/** Asks a question once per task, because its answer does not change meanwhile. A question that failed is asked again. */
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
