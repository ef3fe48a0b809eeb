/** Reads the options of a task and checks them first. */
import type { AnyTable } from '../../database/table.ts'
import { defineTable } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import { isRawTable, type TaskRun } from '../../plugin-kit/index.ts'
import { domainTable, withFields } from './fields.ts'
import { type PathReader, readPath } from './json-path.ts'

export interface Rule {
  /** The domain table, reduced to its key and the fields that are filled. */
  readonly table: AnyTable
  readonly rawTable: string
  /** The params in the origin of the rows, as a pattern of SQL's `like`. */
  readonly rawParams: string
  /** The reader of the path for each column. */
  readonly mapping: ReadonlyMap<string, PathReader>
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

export async function readRules({ database, options }: TaskRun): Promise<Rule[]> {
  const given: unknown = options.transformationRules ?? []
  if (!Array.isArray(given)) throw new UserError('customize: the option transformationRules must be a list.')
  const rules: Rule[] = []
  for (const [index, rule] of given.entries()) {
    const place = `customize: rule ${index + 1}`
    if (!isObject(rule)) throw new UserError(`${place} must be an object.`)
    const text = (name: string): string => {
      const value = rule[name]
      if (typeof value !== 'string' || value === '') throw new UserError(`${place}: ${name} is missing, or no text.`)
      return value
    }
    const whole = await withFields(database, domainTable(text('table')))
    const rawTable = text('rawDataTable')
    if (!isRawTable(rawTable)) throw new UserError(`${place}: there is no table ${rawTable} of raw records.`)
    if (whole.origin < 0) throw new UserError(`${place}: rows of ${whole.name} are not made from raw records.`)
    const mapping = readMapping(place, whole, rule.mapping)
    const names = [...whole.keys.map((position) => whole.names[position] as string), ...mapping.keys()]
    const table = defineTable(whole.name, Object.fromEntries(names.map((name) => [name, whole.columns[name]])))
    rules.push({ table, rawTable, rawParams: text('rawDataParams'), mapping })
  }
  return rules
}

function readMapping(place: string, table: AnyTable, mapping: unknown): Map<string, PathReader> {
  if (!isObject(mapping) || Object.keys(mapping).length === 0) {
    throw new UserError(`${place}: mapping must be an object such as {"x_points": "fields.points"}.`)
  }
  return new Map(
    Object.entries(mapping).map(([column, path]) => {
      if (!column.startsWith('x_') || !table.names.includes(column)) {
        throw new UserError(`${place}: ${table.name} has no field ${column}: create it first.`)
      }
      if (typeof path !== 'string') throw new UserError(`${place}: the path of ${column} must be text.`)
      return [column, readPath(path)]
    }),
  )
}
