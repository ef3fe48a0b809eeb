/**
 * Processes one delivery that waits in the inbox: reads it, and writes the resulting changes. It parses payloads of any size
 * and matches patterns that users wrote, so a server runs it in a thread.
 */

import { sql } from 'kysely'
import type { DeliveryRow, DeliveryState } from '../control-plane/connections/deliveries.ts'
import { wantCalculations } from '../control-plane/runs/wanted-calculations.ts'
import { findRow, updateRows } from '../control-plane/store.ts'
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

/** Both methods reject only when the database is unreachable. */
export interface DeliveryWork {
  /** Returns the names of the leases that applying the delivery needs. Undefined when nothing is left to do; the inbox says why. */
  leasesOf(id: number): Promise<readonly string[] | undefined>
  /** Applies the delivery. The caller must hold its leases. */
  apply(id: number): Promise<void>
}

interface DeliveryPlace {
  /** Protected by the fence of this server. */
  readonly database: Database
  readonly plugins: readonly Plugin[]
  /** Called for an error that the delivery did not cause. */
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
  /** Task options, one set per scope. */
  readonly options: readonly Record<string, RawRecord>[]
}

/** Returns what to apply, or the outcome of a delivery that is not applied. */
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

/** Finds the plugin that collects with this connection, for example the one for GraphQL. */
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
  // This signal is never aborted: to stop the work, the thread is ended.
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

/** Requests a calculation for the projects that collect the scopes of the delivery. */
async function wantNumbers(database: Database, { plugin, connection_id }: DeliveryRow, plan: Plan): Promise<void> {
  for (const options of plan.options) {
    const scope = await findScope(plan.plugin, connection_id, { database, options })
    const scope_id = String(scope[scopeKey(plan.plugin)])
    await wantCalculations(database, { plugin_name: plugin, connection_id, scope_id })
  }
}

/** Locks the delivery. False when it does not wait any more, because another server was faster. */
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
