/** Changes that rows of configuration need on their way: ciphertexts, plans, runs that never ended, plugins that Weir does not have. */

import { byName } from '../basics/by-name.ts'
import { stagesOf, tasksOf } from '../control-plane/plan/stages.ts'
import type { PlanField } from '../control-plane/plan/stored-plans.ts'
import { LONGEST_SHOWN } from '../control-plane/plan/stored-plans.ts'
import { UNFINISHED } from '../control-plane/runs/states.ts'
import { allConnected, type Connected } from '../control-plane/sources.ts'
import type { AnyTable, TableRow } from '../database/table.ts'
import { columnOf } from '../plugin-kit/spec/fields.ts'
import type { Plan, PlanTask } from '../plugin-kit/spec/plan.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import { hasAddressSecret } from '../secrets/address-secrets.ts'
import { CIPHERTEXTS, type Secrets } from '../secrets/secrets.ts'
import { apiKeys } from '../system/access.ts'
import { pipelines, tasks } from '../system/pipelines.ts'
import { blueprintConnections, blueprintScopes, blueprints, projectMetricSettings } from '../system/projects.ts'
import type { OldKey } from './old-key.ts'
import type { Values } from './values.ts'

/** A secret that was not imported. */
export interface MissingSecret {
  readonly plugin: string
  readonly connection: string
  readonly field: string
}
type Plans = Readonly<Partial<Record<PlanField, { readonly plan: Plan | null; readonly most?: number }>>>

export interface Changed {
  /** Undefined if the row is not imported. */
  readonly values?: Values
  /** The reason why the row, or a part of it, is not imported. */
  readonly reason?: string
  readonly plans?: { readonly subject: 'blueprint' | 'pipeline'; readonly subject_id: number; readonly byField: Plans }
  readonly missing?: readonly MissingSecret[]
  /** Rows of other tables that belong to it. */
  readonly rows?: readonly TableRow[]
}
export type Rule = (row: Values) => Changed

interface RuleContext {
  readonly plugins: readonly Plugin[]
  /** Undefined if secrets stay behind. */
  readonly old?: OldKey | undefined
  readonly secrets: Secrets
}

export function rulesOf(context: RuleContext): ReadonlyMap<string, Rule> {
  const { plugins, old } = context
  const rules: [AnyTable, Rule][] = [
    ...allConnected(plugins).map((owner): [AnyTable, Rule] => [owner.table, connectionRule(owner, context)]),
    [blueprints, blueprintRule(context)],
    [pipelines, pipelineRule(context)],
    [tasks, taskRule(context)],
    ...[blueprintConnections, blueprintScopes, projectMetricSettings].map((table): [AnyTable, Rule] => [
      table,
      knownPluginRule(plugins),
    ]),
    [apiKeys, (values) => (old ? { values } : { reason: "an API key is only readable with DevLake's secret" })],
  ]
  return new Map(rules.map(([{ name }, rule]) => [name, rule]))
}

const textOf = (value: unknown) => (Buffer.isBuffer(value) ? value.toString('utf8') : String(value ?? ''))
/** True for values that Weir has written: the adoption in place continues, or a server of Weir has used the database before. */
export const isOurs = (stored: string): boolean => CIPHERTEXTS.some((prefix) => stored.startsWith(prefix))

function connectionRule({ name: plugin, fields, pushSource }: Connected, { old, secrets }: RuleContext): Rule {
  const described = Object.entries(fields).map(([name, field]) => ({ ...field, name, column: columnOf(name, field) }))
  return (row) => {
    const values = byName(row)
    const missing: MissingSecret[] = []
    for (const { name, column, kind, authMethod, isManaged } of described) {
      const stored = textOf(row[column])
      if (stored === '' || isOurs(stored)) continue
      if (kind === 'url' && hasAddressSecret(stored)) values[column] = secrets.encrypt(stored)
      if (kind !== 'secret') continue
      const plain = old?.(stored)
      values[column] = plain ? secrets.encrypt(plain) : ''
      const isUsed = authMethod === undefined || authMethod === row.auth_method
      if (plain === undefined && isUsed && !isManaged) {
        missing.push({ plugin, connection: String(row.name), field: name })
      }
    }
    const scopes = pushSource?.scopes({ id: Number(row.id), name: String(row.name) })
    return { values, missing, ...(scopes && { rows: scopes }) }
  }
}

function planIn(stored: unknown, old: OldKey | undefined): Plan | null | undefined {
  const text = textOf(stored)
  if (text === '' || text === 'null') return null
  try {
    const opened = text.startsWith('[') ? text : old?.(text)
    const plan = opened === '' ? null : JSON.parse(opened ?? '-')
    if (plan === null) return null
    // DevLake writes a stage without tasks as null.
    const { stages } = stagesOf(Array.isArray(plan) ? plan.map((stage) => stage ?? []) : plan)
    return stages.map((stage, row) =>
      (tasksOf(stage, row) as PlanTask[]).map((task) => ({ ...task, options: task.options ?? {} })),
    )
  } catch {
    return undefined
  }
}

const PLAN_COLUMNS = { plan: 'plan', before_plan: 'beforePlan', after_plan: 'afterPlan' } as const

function blueprintRule({ old, plugins }: RuleContext): Rule {
  const known = new Set(plugins.map(({ name }) => name))
  return (row) => {
    const isMadeAnew = row.mode !== 'ADVANCED'
    const read = Object.entries(PLAN_COLUMNS).map(([column, field]) => ({ field, plan: planIn(row[column], old) }))
    const lost = read.filter(({ field, plan }) => plan === undefined && !(field === 'plan' && isMadeAnew))
    const most = isMadeAnew ? LONGEST_SHOWN.blueprint : Number.MAX_SAFE_INTEGER
    const byField = Object.fromEntries(read.map(({ field, plan }) => [field, { plan: plan ?? null, most }]))
    const unknown = isMadeAnew
      ? []
      : unknownIn(
          read.flatMap(({ plan }) => plan ?? []),
          known,
        )
    const values = {
      ...row,
      plan: null,
      before_plan: null,
      after_plan: null,
      ...(lost.length > 0 && { enable: false }),
    }
    const reasons = [
      ...(lost.length > 0
        ? [
            `the ${lost.map(({ field }) => field).join(', ')} of ${row.name} cannot be read: write it again, then enable it`,
          ]
        : []),
      ...unknown.map((plugin) => `the plan of ${row.name} has tasks of ${plugin}, which Weir does not have`),
    ]
    return {
      values,
      plans: { subject: 'blueprint', subject_id: Number(row.id), byField },
      ...(reasons.length > 0 && { reason: reasons.join('; ') }),
    }
  }
}

const unknownIn = (plan: Plan, known: ReadonlySet<string>): string[] => [
  ...new Set(plan.flat().flatMap(({ plugin }) => (known.has(plugin) ? [] : [plugin]))),
]

/** Otherwise Weir's runner would start a run that DevLake had not finished. */
function ended(row: Values): Values {
  const isUnfinished = (UNFINISHED as readonly unknown[]).includes(row.status)
  if (!isUnfinished) return row
  const message = 'DevLake had not finished this when its data was moved to Weir.'
  return { ...row, status: 'TASK_CANCELLED', message, finished_at: row.finished_at ?? row.updated_at ?? new Date() }
}

function pipelineRule({ old }: RuleContext): Rule {
  return (row) => {
    const plan = planIn(row.plan, old) ?? null
    const byField = { plan: { plan, most: LONGEST_SHOWN.pipeline } }
    const plans = { subject: 'pipeline', subject_id: Number(row.id), byField } as const
    return { values: { ...ended(row), plan: null }, plans }
  }
}

function taskRule({ old, secrets }: RuleContext): Rule {
  return (row) => {
    const stored = textOf(row.options)
    if (isOurs(stored)) return { values: ended(row) }
    const options = stored.startsWith('{') ? stored : old?.(stored)
    const sealed = options ? secrets.encrypt(options) : ''
    // The options of a past task are only of interest to people, and the plan has them too.
    return { values: { ...ended(row), options: sealed } }
  }
}

function knownPluginRule(plugins: readonly Plugin[]): Rule {
  const known = new Set(plugins.map(({ name }) => name))
  return (values) =>
    known.has(String(values.plugin_name)) ? { values } : { reason: `Weir has no plugin ${values.plugin_name}` }
}
