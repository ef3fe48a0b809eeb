/** For docs/data-model.md: the origin of each tool's values in a domain column. */
import type { Table } from '../src/database/table.ts'
import { plugins } from '../src/plugins/index.ts'
import { findOrigins, type Origin, type PluginOrigins } from './origins.ts'

let found: readonly PluginOrigins[] | undefined
/** Computed once, because asking all converters takes a while. */
export const allOrigins = (): readonly PluginOrigins[] => {
  found ??= findOrigins(plugins)
  return found
}

const code = (text: string) => `\`${text}\``
const wordsFor = ({ from, literals }: Origin): string =>
  [
    ...[...from].filter((name) => name.includes('.')).map(code),
    ...[...from].filter((name) => !name.includes('.')),
    ...[...literals].map((value) => `always ${code(value)}`),
  ].join(', ')

/** Plugins that write the table in another way than by converting tool rows. */
const others = (name: string): string[] =>
  plugins
    .filter(({ subtasks }) => subtasks.some(({ step, writes }) => step === 'calculate' && writes.includes(name)))
    .map((plugin) => plugin.name)

export function renderOrigins({ name, names }: Table<any>): string {
  const sources = allOrigins().filter(({ origins }) => origins.has(name))
  const also = others(name)
  const rest = also.length > 0 ? `\nAlso written by ${also.map(code).join(', ')}.\n` : ''
  if (sources.length === 0) return rest
  const cellOf = ({ origins }: PluginOrigins, column: string) => {
    const origin = origins.get(name)?.get(column)
    return origin ? wordsFor(origin) : ''
  }
  const rows = names
    .map((column) => [code(column), ...sources.map((source) => cellOf(source, column))])
    .filter((cells) => cells.slice(1).some(Boolean))
    .map((cells) => `|${cells.map((cell) => cell && ` ${cell}`).join(' |')} |`)
  const heads = ['Made of', ...sources.map(({ plugin }) => plugin.name)]
  return ['', `| ${heads.join(' | ')} |`, `|${heads.map(() => '---').join('|')}|`, ...rows, rest].join('\n')
}
