/**
 * Applies what sources have sent, in its order. Whoever collects a scope is its only writer: what comes meanwhile waits, and
 * is applied afterwards. The inbox tells of it in the same transaction, so that a kill loses nothing and applies nothing twice.
 */

import { sql } from 'kysely'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { DeliveryRow, DeliveryState } from '../control-plane/deliveries.ts'
import { findRow, selectRows, updateRows } from '../control-plane/store.ts'
import { wantCalculations } from '../control-plane/wanted-calculations.ts'
import type { Database } from '../database/database.ts'
import { parseExactBytes } from '../database/exact-json.ts'
import type { RawRecord } from '../database/table.ts'
import { retrying } from '../database/write.ts'
import { messageOf, RecordError, UnavailableError, UserError } from '../errors.ts'
import { redact } from '../log.ts'
import { type Applied, applyRecords, scopesOfDelivery } from '../plugin-kit/push/apply-delivery.ts'
import type { DeliveredRecord } from '../plugin-kit/spec/deliveries.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { settingsTables } from '../plugin-kit/task/settings-tables.ts'
import { findScope, scopeKey } from '../plugin-kit/task/source-task.ts'
import { webhookDeliveries } from '../system/deliveries.ts'
import { besideAnswers } from '../user-patterns.ts'
import type { Leases } from './leases.ts'
import { leasesOfTask } from './task-leases.ts'

/** Looked at in one go. */
const AT_ONCE = 200
/** Neither a task nor a deletion. */
const LESSEE = { task_id: -1, pipeline_id: 0 }

class Busy extends Error {}

interface Outcome {
  readonly state: DeliveryState
  readonly effect: string
  readonly scope?: string
}

export interface Applier {
  readonly control: ControlPlane
  /** Behind the fence of this server. */
  readonly database: Database
  readonly leases: Leases
}

/** Gives how many it has dealt with; those whose scope is being collected stay. */
export async function applyDeliveries(applier: Applier, signal: AbortSignal): Promise<number> {
  const waiting = await selectRows(applier.database.kysely, webhookDeliveries, (query) =>
    query.where('state', '=', 'waiting').orderBy('id').limit(AT_ONCE),
  )
  const busy = new Set<string>()
  let ended = 0
  for (const row of waiting) {
    if (signal.aborted) return ended
    if (await applyDelivery(applier, row, busy, signal)) ended++
  }
  return ended
}

/** False: it continues waiting. `busy` has what others before it wait for. */
async function applyDelivery(
  applier: Applier,
  row: DeliveryRow,
  busy: Set<string>,
  signal: AbortSignal,
): Promise<boolean> {
  const { control, database } = applier
  try {
    const plan = await planOf(applier, row)
    if ('state' in plan) await note(database, row, plan)
    else await applyAlone(applier, row, plan, busy, signal)
    return true
  } catch (error) {
    if (error instanceof Busy) return false
    const known = database.explain(error) ?? error
    if (known instanceof UnavailableError) throw known
    const isOurs = !(known instanceof UserError || known instanceof RecordError)
    if (isOurs) control.context.log.error({ err: known, delivery: row.id }, 'a delivery could not be applied')
    const effect = known instanceof TypeError ? 'It has another form than expected.' : redact(messageOf(known))
    await note(database, row, { state: 'failed', effect })
    return true
  }
}

interface Plan {
  readonly plugin: PluginSpec
  readonly subject: string
  readonly scope: string
  readonly records: readonly DeliveredRecord[]
  /** Of tasks, one a scope. */
  readonly options: readonly Record<string, RawRecord>[]
}

/** What is to be done, or what is said of one that nothing is done with. */
async function planOf({ control, database }: Applier, row: DeliveryRow): Promise<Plan | Outcome> {
  const plugin = await pluginOf(control, database, row)
  const spec = plugin?.deliveries
  if (!plugin || !spec) return { state: 'ignored', effect: `Connection ${row.connection_id} is gone.` }
  const payload = parseExactBytes(row.body)
  const effect = spec.read(row.kind, payload)
  if (!effect) return { state: 'ignored', effect: `Nothing follows from ${row.kind || 'an event without a name'}.` }
  const about = spec.scopes(payload)
  const scope = about?.name ?? ''
  if ('note' in effect)
    return { state: effect.isGreeting ? 'applied' : 'ignored', effect: sentence(effect.note), scope }
  if (!about)
    return { state: 'ignored', effect: `It does not say which ${plugin.scope.title.toLowerCase()} it is about.` }
  const options = await scopesOfDelivery(database, plugin, row.connection_id, about)
  if (options.length === 0)
    return {
      state: 'ignored',
      effect: about.otherwise ?? `${scope} is no scope of this connection: add it first.`,
      scope,
    }
  return { plugin, subject: effect.subject, records: effect.records, options, scope }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

/** The one that collects with the connection, such as that for GraphQL. */
async function pluginOf(
  { context }: ControlPlane,
  database: Database,
  row: DeliveryRow,
): Promise<PluginSpec | undefined> {
  const source = context.plugins.find(({ name }) => name === row.plugin)?.source
  if (!source) return undefined
  const { connections, settingsOf } = settingsTables(source)
  const connection = await findRow(database.kysely, connections, { id: row.connection_id })
  if (!connection) return undefined
  const name = source.plan?.plugin?.(settingsOf(connections, connection)) ?? source.name
  return context.plugins.find((plugin) => plugin.name === name)?.source
}

async function applyAlone(
  { control, database, leases }: Applier,
  row: DeliveryRow,
  plan: Plan,
  busy: Set<string>,
  signal: AbortSignal,
): Promise<void> {
  const { plugins } = control.context
  const names: string[] = []
  for (const options of plan.options) {
    names.push(...(await leasesOfTask(database, plugins, { plugin: plan.plugin.name, options })))
  }
  const keepOrder = () => {
    for (const name of names) busy.add(name)
    throw new Busy()
  }
  if (names.some((name) => busy.has(name))) keepOrder()
  const end = await leases.take(names, LESSEE, signal, async () => keepOrder())
  if (!end) throw new Busy()
  try {
    await retrying(database, () =>
      database.transaction(async (inside) => {
        if (!(await holdWaiting(inside, row))) return
        const all: Applied[] = []
        for (const options of plan.options) {
          const run = { database: inside, options, signal }
          // The request that brought it may have woken us.
          all.push(await besideAnswers(() => applyRecords(plan.plugin, run, plan.records)))
        }
        const outcome = outcomeOf(plan, all)
        await note(inside, row, { ...outcome, scope: plan.scope })
        if (outcome.state === 'applied') await wantNumbers(inside, row, plan)
      }),
    )
  } finally {
    await end()
  }
}

/** Of the projects that collect the scopes. */
async function wantNumbers(database: Database, { plugin, connection_id }: DeliveryRow, plan: Plan): Promise<void> {
  for (const options of plan.options) {
    const scope = await findScope(plan.plugin, connection_id, { database, options })
    const scope_id = String(scope[scopeKey(plan.plugin)])
    await wantCalculations(database, { plugin_name: plugin, connection_id, scope_id })
  }
}

/** Another server may have been faster. */
async function holdWaiting({ kysely }: Database, { id }: DeliveryRow): Promise<boolean> {
  const { rows } = await sql`select id from ${sql.table(webhookDeliveries.name)}
    where id = ${id} and state = 'waiting' for update`.execute(kysely)
  return rows.length > 0
}

function outcomeOf({ subject }: Plan, all: readonly Applied[]): Outcome {
  const rows = all.reduce((sum, each) => sum + each.rows, 0)
  const records = all.reduce((sum, each) => sum + each.records, 0)
  const reasons = [...new Set(all.flatMap((each) => each.reasons))].join('; ')
  if (records === 0) return { state: 'ignored', effect: `${sentence(subject).slice(0, -1)} is as it was: ${reasons}.` }
  const left = reasons && ` Of it was left out what was no news: ${reasons}.`
  return {
    state: 'applied',
    effect: `${sentence(subject).slice(0, -1)} changed: ${rows} ${rows === 1 ? 'row' : 'rows'}.${left}`,
  }
}

const note = async ({ kysely }: Database, { id }: DeliveryRow, outcome: Outcome): Promise<void> => {
  await updateRows(kysely, webhookDeliveries, { id, state: 'waiting' }, { ...outcome })
}
