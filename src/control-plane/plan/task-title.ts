import { bareAddress } from '../../address-secrets.ts'
import type { PlanTask } from '../../plugin-kit/spec/plan.ts'

type Named = Pick<PlanTask, 'plugin' | 'options'>

/** Options that name what a task is about, the best for people first. */
const NAMES = ['fullName', 'projectName', 'projectSlug', 'name', 'url', 'repoId']

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
/** Addresses may carry credentials, before the host and as parameters. */
const clean = (name: string) => bareAddress(name.replace(/\/\/[^/@]*@/, '//'))

function nameOf({ options }: Named): string | undefined {
  const name = NAMES.map((each) => options[each]).find(isText)
  if (name !== undefined) return clean(name)
  return options.boardId ? `board ${options.boardId}` : undefined
}

/** What a task is about, such as a repository or a project; its plugin where nothing tells. */
export const taskTitle = (task: Named): string => {
  const other = Object.values(task.options).find(isText)
  return nameOf(task) ?? (other === undefined ? task.plugin : clean(other))
}

/** A failure that says of what; many name it themselves. */
export function namedFailure(task: Named, message: string): string {
  const name = nameOf(task)
  return name === undefined || message.includes(name) ? message : `${name}: ${message}`
}
