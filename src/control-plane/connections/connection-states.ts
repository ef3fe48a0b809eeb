/** Remembers whether each connection worked when it was last used. Tests and tasks record it, and lists of connections show it. */

import { knowing } from '../../database/kysely.ts'
import type { RowOf } from '../../database/table.ts'
import type { Fields } from '../../plugin-kit/spec/fields.ts'
import type { PlanTask } from '../../plugin-kit/spec/plan.ts'
import type { Plugin, PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { ownerOf } from '../../plugin-kit/task/family.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { connectionStates } from '../../system/runs.ts'
import type { ServiceContext } from '../services.ts'
import { maskSettings, openSettings } from '../settings.ts'
import { allConnected } from '../sources.ts'
import { deleteRows, insertRow, type Queries, selectRows, updateRows } from '../store.ts'

interface Used {
  readonly plugin: string
  readonly connectionId: number
  /** Why the connection did not work; undefined when it worked. */
  readonly failure?: string | undefined
  readonly pipelineId?: number
  /** The number of requests that the source said it still allows. */
  readonly requestsLeft?: number | undefined
}

const LONGEST_FAILURE = 2000

export async function recordUse(queries: Queries, used: Used): Promise<void> {
  const { plugin, connectionId: connection_id, failure, pipelineId: pipeline_id, requestsLeft: requests_left } = used
  const now = new Date()
  const values = {
    ...(failure === undefined ? { succeeded_at: now } : { failed_at: now, failure: failure.slice(0, LONGEST_FAILURE) }),
    ...(pipeline_id !== undefined && { pipeline_id, collected_at: now }),
    ...(requests_left !== undefined && { requests_left, counted_at: now }),
  }
  const where = { plugin, connection_id }
  if ((await updateRows(queries, connectionStates, where, values)) > 0) return
  // Another task with this connection may have inserted the row at the same moment.
  await insertRow(queries, connectionStates, { ...where, ...values }).catch(() =>
    updateRows(queries, connectionStates, where, values),
  )
}

/** Finds the connection that a task of this plugin works with. */
export function connectionOf(plugins: readonly Plugin[], name: string, { connectionId }: PlanTask['options']) {
  const source = plugins.find((each) => each.name === name)?.source
  if (!source || !Number.isSafeInteger(Number(connectionId))) return undefined
  return { plugin: ownerOf(source).name, connectionId: Number(connectionId) }
}

export const forgetUse = (queries: Queries, plugin: string, connection_id: number) =>
  deleteRows(queries, connectionStates, { plugin, connection_id })

interface ConnectionOverview {
  readonly plugin: string
  readonly title: string
  readonly id: number
  readonly name: string
  readonly endpoint: string
  readonly scopes: number
  readonly state: 'works' | 'fails' | 'unknown'
  /** When it last worked, or last failed if it fails now. */
  readonly checkedAt: Date | null
  /** Why it does not work. */
  readonly failure: string | null
  /** The run that failed; null when a connection test did. One scope of many can fail a run, so a failed run proves less than a test. */
  readonly failedRun: number | null
  readonly requestsLeft: number | null
  readonly countedAt: Date | null
  readonly pipelineId: number | null
  readonly collectedAt: Date | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** Lists every connection of every source by source and name, with two statements per source however many connections there are. */
export async function listConnections(context: ServiceContext): Promise<ConnectionOverview[]> {
  const states = await selectRows(context.database.kysely, connectionStates)
  const stateOf = new Map(states.map((row) => [`${row.plugin} ${row.connection_id}`, row]))
  const sources = allConnected(context.plugins).flatMap(({ source }) => source ?? [])
  const lists = await Promise.all(sources.map((source) => connectionsOf(context, source)))
  return lists.flat().map((each) => ({ ...each, ...shownState(stateOf.get(`${each.plugin} ${each.id}`)) }))
}

async function connectionsOf({ database: { kysely }, secrets }: ServiceContext, source: PluginSpec) {
  const { scope, connection, name: plugin, title } = source
  const rows = await selectRows(kysely, settingsTables(source).connections, (query) =>
    query.orderBy('name').orderBy('id'),
  )
  const counted = await knowing(kysely, scope.table)
    .selectFrom(scope.table.name)
    .select(['connection_id', ({ fn }) => fn.countAll().as('count')])
    .groupBy('connection_id')
    .execute()
  const counts = new Map(counted.map(({ connection_id, count }) => [Number(connection_id), Number(count)]))
  const fields: Fields = connection.fields.endpoint ? { endpoint: connection.fields.endpoint } : {}
  return rows.map((row) => ({
    plugin,
    title,
    id: Number(row.id),
    name: String(row.name),
    endpoint: String(maskSettings(fields, openSettings(fields, row, secrets)).endpoint ?? ''),
    scopes: counts.get(Number(row.id)) ?? 0,
    createdAt: row.created_at as Date,
    updatedAt: row.updated_at as Date,
  }))
}

function shownState(row: RowOf<typeof connectionStates> | undefined) {
  const { succeeded_at = null, failed_at = null } = row ?? {}
  const isFailing = failed_at !== null && Number(failed_at) > Number(succeeded_at ?? 0)
  return {
    state: isFailing ? ('fails' as const) : succeeded_at ? ('works' as const) : ('unknown' as const),
    checkedAt: isFailing ? failed_at : succeeded_at,
    failure: isFailing ? (row?.failure ?? '') : null,
    failedRun: isFailing && Number(row?.collected_at ?? 0) === Number(failed_at) ? row?.pipeline_id || null : null,
    requestsLeft: row?.requests_left ?? null,
    countedAt: row?.counted_at ?? null,
    pipelineId: row?.pipeline_id || null,
    collectedAt: row?.collected_at ?? null,
  }
}
