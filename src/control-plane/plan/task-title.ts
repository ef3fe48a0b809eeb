import type { PlanTask } from '../../plugin-kit/spec/plan.ts'
import { bareAddress } from '../../secrets/address-secrets.ts'

type Named = Pick<PlanTask, 'plugin' | 'options'>

/** Options that name the subject of a task, the most readable first. */
const NAMES = ['fullName', 'projectName', 'projectSlug', 'name', 'url', 'repoId']

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
/** Removes credentials from addresses, which may stand before the host or in parameters. */
const clean = (name: string) => bareAddress(name.replace(/\/\/[^/@]*@/, '//'))

function nameOf({ options }: Named): string | undefined {
  const name = NAMES.map((each) => options[each]).find(isText)
  if (name !== undefined) return clean(name)
  return options.boardId ? `board ${options.boardId}` : undefined
}

/** The subject of a task, such as a repository or a project; the name of its plugin when the options name nothing. */
export const taskTitle = (task: Named): string => {
  const other = Object.values(task.options).find(isText)
  return nameOf(task) ?? (other === undefined ? task.plugin : clean(other))
}

/** Adds the subject of the task to a failure message, unless the message contains it already. */
export function namedFailure(task: Named, message: string): string {
  const name = nameOf(task)
  return name === undefined || message.includes(name) ? message : `${name}: ${message}`
}
