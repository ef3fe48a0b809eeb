/** What tasks of a plugin may be told, for those who write plans by hand: completion, templates, and hints at what is odd. */
import type { Plugin } from './subtask.ts'

export interface TaskOption {
  readonly kind: 'text' | 'number' | 'flag' | 'list' | 'object'
  /** What it means, in a few words. */
  readonly label: string
  readonly isRequired?: boolean
  /** What a template starts with; required ones have one. */
  readonly example?: unknown
}
export type TaskOptions = Readonly<Record<string, TaskOption>>

const CONNECTION: TaskOption = { kind: 'number', label: 'Id of the connection', isRequired: true, example: 1 }

/** Those that it names itself; a source's are the columns that its scopes are looked up by. */
export function optionsOf({ options, source, feed }: Pick<Plugin, 'options' | 'source' | 'feed'>): TaskOptions {
  if (options) return options
  if (feed) return { connectionId: CONNECTION }
  if (!source) return {}
  const { table, options: columns, title } = source.scope
  const scope = Object.entries(columns).map(([option, column], index): [string, TaskOption] => {
    const isNumber = ['integer', 'bigint'].includes(table.columns[column]?.kind)
    const example = isNumber ? 1 : ''
    return [
      option,
      { kind: isNumber ? 'number' : 'text', label: `${title}: its ${column}`, ...(index === 0 && { example }) },
    ]
  })
  return {
    connectionId: CONNECTION,
    ...Object.fromEntries(scope),
    scopeConfigId: { kind: 'number', label: 'Id of a scope config, instead of the one that the scope has' },
    scopeConfig: { kind: 'object', label: 'Rules, instead of a stored scope config' },
  }
}

/** Says what is wrong with a value; undefined: nothing. */
export function oddValue({ kind }: TaskOption, value: unknown): string | undefined {
  const isFine = {
    text: () => typeof value === 'string',
    // Clients of the reference send ids as text.
    number: () => typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)),
    flag: () => typeof value === 'boolean',
    list: () => Array.isArray(value),
    object: () => typeof value === 'object' && !Array.isArray(value),
  }[kind]()
  if (isFine || value === null || value === undefined) return undefined
  return `must be ${{ text: 'text', number: 'a number', flag: 'true or false', list: 'a list', object: 'an object' }[kind]}`
}
