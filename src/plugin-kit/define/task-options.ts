/** The options of tasks, for completion, templates, and hints about odd values in a plan. */
import type { Plugin } from '../spec/plugin.ts'
import type { TaskOption, TaskOptions } from '../spec/task-options.ts'

const CONNECTION: TaskOption = { kind: 'number', label: 'Id of the connection', isRequired: true, example: 1 }

/** The options that a plugin declares; for a source, the columns by which its scopes are looked up. */
export function optionsOf({
  options,
  source,
  pushSource,
}: Pick<Plugin, 'options' | 'source' | 'pushSource'>): TaskOptions {
  if (options) return options
  if (pushSource) return { connectionId: CONNECTION }
  if (!source) return {}
  const { table, options: columns, toldBy, title } = source.scope
  const scope = Object.entries({ ...columns, ...toldBy }).map(([option, column], index): [string, TaskOption] => {
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

/** Says what is wrong with a value; undefined: the value is fine. */
export function oddValue({ kind }: TaskOption, value: unknown): string | undefined {
  const isFine = {
    text: () => typeof value === 'string',
    // Clients of DevLake send ids as text.
    number: () => typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value)),
    flag: () => typeof value === 'boolean',
    list: () => Array.isArray(value),
    object: () => typeof value === 'object' && !Array.isArray(value),
  }[kind]()
  if (isFine || value === null || value === undefined) return undefined
  return `must be ${{ text: 'text', number: 'a number', flag: 'true or false', list: 'a list', object: 'an object' }[kind]}`
}
