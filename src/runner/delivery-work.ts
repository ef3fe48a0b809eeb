/**
 * What is done with one delivery that waits in the inbox: reading it, and writing what follows from it. It parses as much as a
 * source sends, and matches patterns of users, so a server has it done in a thread.
 */

import { sql } from 'kysely'
import type { DeliveryRow, DeliveryState } from '../control-plane/deliveries.ts'
import { findRow, updateRows } from '../control-plane/store.ts'
import { wantCalculations } from '../control-plane/wanted-calculations.ts'
import type { Database } from '../database/database.ts'
import { parseExactBytes } from '../database/exact-json.ts'
import type { RawRecord } from '../database/table.ts'
import { retrying } from '../database/write.ts'
import { messageOf, RecordError, UnavailableError, UserError } from '../errors.ts'
import { redact } from '../log.ts'
import { type Applied, applyRecords, scopesOfDelivery } from '../plugin-kit/push/apply-delivery.ts'
import type { DeliveredRecord } from '../plugin-kit/spec/deliveries.ts'
import type { Plugin, PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { settingsTables } from '../plugin-kit/task/settings-tables.ts'
import { findScope, scopeKey } from '../plugin-kit/task/source-task.ts'
import { webhookDeliveries } from '../system/deliveries.ts'
import { leasesOfTask } from './task-leases.ts'

/** Both reject only if the database is away. */
export interface DeliveryWork {
  /** What applying it writes to, by the names of leases; undefined: nothing is left to do, and the inbox says why. */
  leasesOf(id: number): Promise<readonly string[] | undefined>
  /** By whoever has the leases. */
  apply(id: number): Promise<void>
}

export interface DeliveryPlace {
  /** Behind the fence of this server. */
  readonly database: Database
  readonly plugins: readonly Plugin[]
  /** What went wrong by no fault of the delivery. */
  readonly onFault: (id: number, error: Error) => void
}

interface Outcome {
  readonly state: DeliveryState
  readonly effect: string
  readonly scope?: string
}

export function deliveryWork(place: DeliveryPlace): DeliveryWork {
  const { database, plugins } = place
  async function work<Result>(id: number, body: (row: DeliveryRow) => Promise<Result>): Promise<Result | undefined> {
    try {
      const row = await findRow(database.kysely, webhookDeliveries, { id, state: 'waiting' })
      return row && (await body(row))
    } catch (error) {
      const known = database.explain(error) ?? error
      if (known instanceof UnavailableError) throw known
      if (!(known instanceof UserError || known instanceof RecordError)) place.onFault(id, known as Error)
      const effect = known instanceof TypeError ? 'It has another form than expected.' : redact(messageOf(known))
      await note(database, id, { state: 'failed', effect })
      return undefined
    }
  }
  return {
    leasesOf: (id) =>
      work(id, async (row) => {
        const plan = await planOf(place, row)
        if ('state' in plan) {
          await note(database, id, plan)
          return undefined
        }
        const names: string[] = []
        for (const options of plan.options) {
          names.push(...(await leasesOfTask(database, plugins, { plugin: plan.plugin.name, options })))
        }
        return names
      }),
    async apply(id) {
      await work(id, async (row) => {
        const plan = await planOf(place, row)
        if ('state' in plan) await note(database, id, plan)
        else await applyPlan(place, row, plan)
      })
    },
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
async function planOf({ plugins, database }: DeliveryPlace, row: DeliveryRow): Promise<Plan | Outcome> {
  const plugin = await pluginOf(plugins, database, row)
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
  plugins: readonly Plugin[],
  database: Database,
  row: DeliveryRow,
): Promise<PluginSpec | undefined> {
  const source = plugins.find(({ name }) => name === row.plugin)?.source
  if (!source) return undefined
  const { connections, settingsOf } = settingsTables(source)
  const connection = await findRow(database.kysely, connections, { id: row.connection_id })
  if (!connection) return undefined
  const name = source.plan?.plugin?.(settingsOf(connections, connection)) ?? source.name
  return plugins.find((plugin) => plugin.name === name)?.source
}

async function applyPlan({ database }: DeliveryPlace, row: DeliveryRow, plan: Plan): Promise<void> {
  // Whoever stops it ends the thread.
  const { signal } = new AbortController()
  await retrying(database, () =>
    database.transaction(async (inside) => {
      if (!(await holdWaiting(inside, row))) return
      const all: Applied[] = []
      for (const options of plan.options) {
        all.push(await applyRecords(plan.plugin, { database: inside, options, signal }, plan.records))
      }
      const outcome = outcomeOf(plan, all)
      await note(inside, row.id, { ...outcome, scope: plan.scope })
      if (outcome.state === 'applied') await wantNumbers(inside, row, plan)
    }),
  )
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

export const note = async ({ kysely }: Database, id: number, outcome: Outcome): Promise<void> => {
  await updateRows(kysely, webhookDeliveries, { id, state: 'waiting' }, { ...outcome })
}
