/** Reads and writes blueprints, which are spread over five tables. */
import { withoutEndSpaces } from '../../database/fit.ts'
import type { RowOf } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import {
  blueprintConnections,
  blueprintLabels,
  blueprintScopes,
  blueprints,
  scopeSelectors,
} from '../../system/projects.ts'
import { blueprintTicks, wantedCalculations } from '../../system/runs.ts'
import { deletePlans, LONGEST_SHOWN, readPlans, type StoredPlans, writePlans } from '../plan/stored-plans.ts'
import type { Blueprint, BlueprintConnection } from '../records.ts'
import {
  deleteRows,
  findRow,
  type Ids,
  insertRow,
  insertRows,
  publicRow,
  type Queries,
  selectRows,
  updateRows,
} from '../store.ts'
import { laterThan } from '../versions.ts'

export type BlueprintRow = RowOf<typeof blueprints>

/** The parts of blueprints that are stored in other tables. */
interface BlueprintParts {
  readonly connections: readonly RowOf<typeof blueprintConnections>[]
  readonly scopes: readonly RowOf<typeof blueprintScopes>[]
  readonly labels: readonly RowOf<typeof blueprintLabels>[]
  readonly plans: ReadonlyMap<number, StoredPlans>
}

/** Reads plans of up to `longestPlan` characters; longer ones are left out. */
export async function readBlueprintParts(
  queries: Queries,
  ids: Ids,
  secrets: Secrets,
  longestPlan?: number,
): Promise<BlueprintParts> {
  const [connections, scopes, labels, plans] = await Promise.all([
    selectRows(queries, blueprintConnections, (query) =>
      query.where('blueprint_id', 'in', ids).orderBy('plugin_name').orderBy('connection_id'),
    ),
    selectRows(queries, blueprintScopes, (query) => query.where('blueprint_id', 'in', ids).orderBy('scope_id')),
    selectRows(queries, blueprintLabels, (query) => query.where('blueprint_id', 'in', ids).orderBy('name')),
    readPlans(queries, 'blueprint', ids, secrets, longestPlan),
  ])
  return { connections, scopes, labels, plans }
}

/** Returns blueprints with their plans unmasked. Plans longer than `longestPlan` characters are left out. */
export async function readBlueprints(
  queries: Queries,
  rows: readonly BlueprintRow[],
  secrets: Secrets,
  longestPlan?: number,
): Promise<Blueprint[]> {
  const ids = rows.map(({ id }) => id)
  return ids.length === 0 ? [] : joinBlueprints(rows, await readBlueprintParts(queries, ids, secrets, longestPlan))
}

export const unknownBlueprint = (id: number) => new UserError(`There is no blueprint ${id}.`, { status: 404 })

export async function blueprintRow(queries: Queries, id: number): Promise<BlueprintRow> {
  const row = await findRow(queries, blueprints, { id })
  if (!row) throw unknownBlueprint(id)
  return row
}

export async function storedBlueprint(queries: Queries, id: number, secrets: Secrets): Promise<Blueprint> {
  const [blueprint] = await readBlueprints(queries, [await blueprintRow(queries, id)], secrets)
  return blueprint as Blueprint
}

/** Thrown when the blueprint was changed by somebody else after it was read. */
export class ChangedMeanwhile extends UserError {
  constructor() {
    super('The blueprint was changed by somebody else at the same time: try again.', { status: 409 })
  }
}
export const isSameVersion = (row: Pick<BlueprintRow, 'updated_at'>, updatedAt: Date): boolean =>
  Number(row.updated_at) === Number(updatedAt)

const MOST_ATTEMPTS = 20

/** Runs `attempt` with the current blueprint, and repeats it with a fresh copy when somebody else changed the blueprint meanwhile. */
export async function whileChanging<Result>(
  blueprint: Blueprint,
  attempt: (blueprint: Blueprint) => Promise<Result>,
  readAgain: () => Promise<Blueprint>,
): Promise<Result> {
  let current = blueprint
  for (let attempts = 1; ; attempts++) {
    try {
      return await attempt(current)
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile) || attempts === MOST_ATTEMPTS) throw error
      current = await readAgain()
    }
  }
}

const connectionKey = (row: { blueprint_id: number; plugin_name: string; connection_id: number }) =>
  `${row.blueprint_id} ${row.connection_id} ${row.plugin_name}`

export function joinBlueprints(rows: readonly BlueprintRow[], parts: BlueprintParts): Blueprint[] {
  const labels = Map.groupBy(parts.labels, ({ blueprint_id }) => blueprint_id)
  const connections = Map.groupBy(parts.connections, ({ blueprint_id }) => blueprint_id)
  const scopes = Map.groupBy(parts.scopes, connectionKey)
  return rows.map((row) => {
    const { plan = [], beforePlan = null, afterPlan = null, problem } = parts.plans.get(row.id) ?? {}
    return {
      ...publicRow(blueprints, row),
      mode: row.mode as Blueprint['mode'],
      plan,
      beforePlan,
      afterPlan,
      labels: (labels.get(row.id) ?? []).map(({ name }) => name),
      connections: (connections.get(row.id) ?? []).map((connection) => ({
        pluginName: connection.plugin_name,
        connectionId: connection.connection_id,
        scopes: (scopes.get(connectionKey(connection)) ?? []).map(({ scope_id }) => ({ scopeId: scope_id })),
      })),
      ...(problem && { problem }),
    }
  })
}

export type UnsavedBlueprint = Omit<Blueprint, 'id' | 'createdAt' | 'updatedAt' | 'problem'>

/** Locks the row until the transaction ends. */
async function requireUnchanged(transaction: Queries, { id, updatedAt }: Blueprint): Promise<void> {
  const [row] = await selectRows(transaction, blueprints, (query) => query.where('id', '=', id).forUpdate())
  if (!row || !isSameVersion(row, updatedAt)) throw new ChangedMeanwhile()
}

/** Writes a new blueprint with all its parts, or a new version of `before`. Throws if `before` is no longer the latest version. */
export async function writeBlueprint(
  transaction: Queries,
  blueprint: UnsavedBlueprint,
  secrets: Secrets,
  before?: Blueprint,
): Promise<number> {
  if (before) await requireUnchanged(transaction, before)
  const row = {
    name: blueprint.name,
    project_name: blueprint.projectName,
    mode: blueprint.mode,
    enable: blueprint.enable,
    cron_config: blueprint.cronConfig,
    is_manual: blueprint.isManual,
    priority: blueprint.priority,
    skip_on_fail: blueprint.skipOnFail,
    time_after: blueprint.timeAfter,
    skip_collectors: blueprint.skipCollectors,
    full_sync: blueprint.fullSync,
  }
  const blueprint_id = before?.id ?? (await insertRow(transaction, blueprints, row))
  if (before) {
    await updateRows(transaction, blueprints, { id: before.id }, { ...row, updated_at: laterThan(before.updatedAt) })
    await deleteParts(transaction, before.id)
  }
  const isMadeAnew = blueprint.mode === 'NORMAL'
  const plans = {
    plan: { plan: blueprint.plan, ...(isMadeAnew && { most: LONGEST_SHOWN.blueprint }) },
    beforePlan: { plan: blueprint.beforePlan },
    afterPlan: { plan: blueprint.afterPlan },
  }
  await writePlans(transaction, { subject: 'blueprint', subject_id: blueprint_id }, plans, secrets)
  const labels = [...new Set(blueprint.labels.map(withoutEndSpaces))].map((name) => ({ blueprint_id, name }))
  await insertRows(transaction, blueprintLabels, labels)
  for (const connection of merged(blueprint.connections)) {
    const link = { blueprint_id, plugin_name: connection.pluginName, connection_id: connection.connectionId }
    await insertRow(transaction, blueprintConnections, link)
    const ids = new Set(connection.scopes.map(({ scopeId }) => withoutEndSpaces(scopeId)))
    await insertRows(
      transaction,
      blueprintScopes,
      [...ids].map((scope_id) => ({ ...link, scope_id })),
    )
  }
  return blueprint_id
}

/** Returns `connections` with the `added` ones and their scopes; undefined when nothing new was added. */
export function joined(
  connections: readonly BlueprintConnection[],
  added: readonly BlueprintConnection[],
): BlueprintConnection[] | undefined {
  const sizeOf = (all: readonly BlueprintConnection[]) =>
    all.reduce((sum, { scopes }) => sum + 1 + new Set(scopes.map(({ scopeId }) => scopeId)).size, 0)
  const before = merged(connections)
  const after = merged([...before, ...added])
  return sizeOf(after) === sizeOf(before) ? undefined : after
}

/** Combines entries that name the same connection. */
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

/** Returns false when the blueprint did not exist any more. */
export async function deleteBlueprint(queries: Queries, id: number): Promise<boolean> {
  await deleteParts(queries, id)
  await deletePlans(queries, 'blueprint', id)
  for (const table of [blueprintTicks, wantedCalculations]) await deleteRows(queries, table, { blueprint_id: id })
  await deleteRows(queries, scopeSelectors, { blueprint_id: id })
  return (await deleteRows(queries, blueprints, { id })) > 0
}

/** From now on only schedule ticks after `ticked_at` start runs. */
export async function setTick(queries: Queries, blueprint_id: number, ticked_at: Date): Promise<void> {
  const changed = await updateRows(queries, blueprintTicks, { blueprint_id }, { ticked_at })
  if (changed === 0) await insertRow(queries, blueprintTicks, { blueprint_id, ticked_at })
}
