/** Finds, adds and removes the fields that a plan fills. */
import { UserError } from '../../errors.ts'
import type { Plan, PlanTask } from '../../plugin-kit/index.ts'
import { readPath } from './json-path.ts'

/** A field and the source of its values. */
interface Mapping {
  readonly table: string
  readonly field: string
  readonly rawTable: string
  /** A pattern of SQL's `like`. */
  readonly rawParams: string
  readonly path: string
}
type MappedField = Omit<Mapping, 'path'>

interface WrittenRule {
  readonly table: string
  readonly rawDataTable: string
  readonly rawDataParams: string
  readonly mapping: Readonly<Record<string, string>>
}

const PLUGIN = 'customize'
/** Plans may be written by hand. Anything that is not a list counts as no rules. */
const rulesOf = ({ options }: PlanTask): readonly WrittenRule[] =>
  Array.isArray(options.transformationRules) ? options.transformationRules : []
const isSameSource = (rule: WrittenRule, { table, rawTable, rawParams }: MappedField) =>
  rule?.table === table && rule.rawDataTable === rawTable && rule.rawDataParams === rawParams

export const mappingsIn = (plan: Plan): Mapping[] =>
  plan
    .flat()
    .filter(({ plugin }) => plugin === PLUGIN)
    .flatMap((task) =>
      rulesOf(task).flatMap((rule) =>
        Object.entries(rule?.mapping ?? {}).map(([field, path]) => ({
          table: String(rule.table),
          field,
          rawTable: String(rule.rawDataTable),
          rawParams: String(rule.rawDataParams),
          path: String(path),
        })),
      ),
    )

/** Adds a mapping to the last task that fills fields, if the last stage has one, or else as a new last stage. */
export function withMapping(plan: Plan, mapping: Mapping): Plan {
  const { table, field, rawTable, rawParams, path } = mapping
  readPath(path)
  const without = withoutMapping(plan, mapping)
  const stage = without.at(-1) ?? []
  const place = stage.findIndex((task) => task.plugin === PLUGIN && Array.isArray(task.options.transformationRules))
  const task = stage[place] ?? { plugin: PLUGIN, subtasks: null, options: { transformationRules: [] } }
  const rules = rulesOf(task)
  const own = rules.findIndex((rule) => isSameSource(rule, mapping))
  const added = own < 0 ? { table, rawDataTable: rawTable, rawDataParams: rawParams, mapping: {} } : rules[own]
  const rule = { ...(added as WrittenRule), mapping: { ...(added as WrittenRule).mapping, [field]: path } }
  const transformationRules = own < 0 ? [...rules, rule] : rules.with(own, rule)
  const changed = { ...task, options: { ...task.options, transformationRules } }
  return place < 0 ? [...without, [changed]] : [...without.slice(0, -1), stage.with(place, changed)]
}

/** Removes a mapping, and the rules, tasks and stages that become empty by that. */
export const withoutMapping = (plan: Plan, mapping: MappedField): Plan =>
  plan.flatMap((stage) => {
    const left = stage.flatMap((task) => {
      if (task.plugin !== PLUGIN || !rulesOf(task).some((rule) => isSameSource(rule, mapping))) return [task]
      const transformationRules = rulesOf(task).flatMap((rule) => withoutField(rule, mapping))
      return transformationRules.length === 0 ? [] : [{ ...task, options: { ...task.options, transformationRules } }]
    })
    return left.length === 0 ? [] : [left]
  })

function withoutField(rule: WrittenRule, mapping: MappedField): WrittenRule[] {
  if (!isSameSource(rule, mapping)) return [rule]
  const { [mapping.field]: _gone, ...rest } = rule.mapping ?? {}
  return Object.keys(rest).length === 0 ? [] : [{ ...rule, mapping: rest }]
}

export function requireMapping(plan: Plan, { table, field, rawTable, rawParams }: MappedField): void {
  const isThere = mappingsIn(plan).some(
    (each) =>
      each.table === table && each.field === field && each.rawTable === rawTable && each.rawParams === rawParams,
  )
  if (!isThere) throw new UserError(`${table}.${field} is not filled by this blueprint.`, { status: 404 })
}
