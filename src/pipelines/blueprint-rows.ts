/** A blueprint is spread over four tables. */
import type { RowOf } from '../database/table.ts'
import type { Secrets } from '../secrets.ts'
import { blueprintConnections, blueprintLabels, blueprintScopes, blueprints } from '../system/projects.ts'
import { blueprintTicks } from '../system/runs.ts'
import type { Blueprint, BlueprintConnection } from './records.ts'
import { openJson, sealJson } from './sealed-plan.ts'
import { deleteRows, type Ids, insertRow, insertRows, type Queries, selectRows, updateRows } from './store.ts'

type BlueprintRow = RowOf<typeof blueprints>

/** What belongs to blueprints, in the tables beside theirs. */
export interface BlueprintParts {
  readonly connections: readonly RowOf<typeof blueprintConnections>[]
  readonly scopes: readonly RowOf<typeof blueprintScopes>[]
  readonly labels: readonly RowOf<typeof blueprintLabels>[]
}

export async function readBlueprintParts(queries: Queries, ids: Ids): Promise<BlueprintParts> {
  const [connections, scopes, labels] = await Promise.all([
    selectRows(queries, blueprintConnections, (query) =>
      query.where('blueprint_id', 'in', ids).orderBy('plugin_name').orderBy('connection_id'),
    ),
    selectRows(queries, blueprintScopes, (query) => query.where('blueprint_id', 'in', ids).orderBy('scope_id')),
    selectRows(queries, blueprintLabels, (query) => query.where('blueprint_id', 'in', ids).orderBy('name')),
  ])
  return { connections, scopes, labels }
}

/** Whole blueprints, plans in clear. */
export async function readBlueprints(
  queries: Queries,
  rows: readonly BlueprintRow[],
  secrets: Secrets,
): Promise<Blueprint[]> {
  const ids = rows.map(({ id }) => id)
  return ids.length === 0 ? [] : joinBlueprints(rows, await readBlueprintParts(queries, ids), secrets)
}

export function joinBlueprints(
  rows: readonly BlueprintRow[],
  { connections, scopes, labels }: BlueprintParts,
  secrets: Secrets,
): Blueprint[] {
  return rows.map((row) => ({
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    name: row.name,
    projectName: row.project_name,
    mode: row.mode as Blueprint['mode'],
    plan: openJson(row.plan, secrets) ?? [],
    enable: row.enable,
    cronConfig: row.cron_config,
    isManual: row.is_manual,
    beforePlan: openJson(row.before_plan, secrets),
    afterPlan: openJson(row.after_plan, secrets),
    priority: row.priority,
    skipOnFail: row.skip_on_fail,
    timeAfter: row.time_after,
    skipCollectors: row.skip_collectors,
    fullSync: row.full_sync,
    labels: labels.filter(({ blueprint_id }) => blueprint_id === row.id).map(({ name }) => name),
    connections: connections
      .filter(({ blueprint_id }) => blueprint_id === row.id)
      .map(({ plugin_name, connection_id }) => ({
        pluginName: plugin_name,
        connectionId: connection_id,
        scopes: scopes
          .filter((each) => each.blueprint_id === row.id)
          .filter((each) => each.plugin_name === plugin_name && each.connection_id === connection_id)
          .map(({ scope_id }) => ({ scopeId: scope_id })),
      })),
  }))
}

export type UnsavedBlueprint = Omit<Blueprint, 'id' | 'createdAt' | 'updatedAt'>

/** Writes a new blueprint, or the one with `id`, with everything that belongs to it. */
export async function writeBlueprint(
  queries: Queries,
  blueprint: UnsavedBlueprint,
  secrets: Secrets,
  id?: number,
): Promise<number> {
  const row = {
    name: blueprint.name,
    project_name: blueprint.projectName,
    mode: blueprint.mode,
    plan: sealJson(blueprint.plan, secrets),
    enable: blueprint.enable,
    cron_config: blueprint.cronConfig,
    is_manual: blueprint.isManual,
    before_plan: blueprint.beforePlan && Buffer.from(sealJson(blueprint.beforePlan, secrets)),
    after_plan: blueprint.afterPlan && Buffer.from(sealJson(blueprint.afterPlan, secrets)),
    priority: blueprint.priority,
    skip_on_fail: blueprint.skipOnFail,
    time_after: blueprint.timeAfter,
    skip_collectors: blueprint.skipCollectors,
    full_sync: blueprint.fullSync,
  }
  const blueprint_id = id ?? (await insertRow(queries, blueprints, row))
  if (id) {
    await updateRows(queries, blueprints, { id }, row)
    await deleteParts(queries, id)
  }
  const labels = [...new Set(blueprint.labels)].map((name) => ({ blueprint_id, name }))
  await insertRows(queries, blueprintLabels, labels)
  for (const connection of merged(blueprint.connections)) {
    const link = { blueprint_id, plugin_name: connection.pluginName, connection_id: connection.connectionId }
    await insertRow(queries, blueprintConnections, link)
    const ids = new Set(connection.scopes.map(({ scopeId }) => scopeId))
    await insertRows(
      queries,
      blueprintScopes,
      [...ids].map((scope_id) => ({ ...link, scope_id })),
    )
  }
  return blueprint_id
}

/** A connection that was named twice is one connection. */
function merged(connections: readonly BlueprintConnection[]): BlueprintConnection[] {
  const groups = Map.groupBy(connections, ({ pluginName, connectionId }) => `${pluginName} ${connectionId}`)
  return [...groups.values()].map((group) => ({
    ...(group[0] as BlueprintConnection),
    scopes: group.flatMap(({ scopes }) => scopes),
  }))
}

async function deleteParts(queries: Queries, id: number): Promise<void> {
  for (const table of [blueprintConnections, blueprintScopes, blueprintLabels]) {
    await deleteRows(queries, table, { blueprint_id: id })
  }
}

export async function deleteBlueprint(queries: Queries, id: number): Promise<void> {
  await deleteParts(queries, id)
  await deleteRows(queries, blueprintTicks, { blueprint_id: id })
  await deleteRows(queries, blueprints, { id })
}
