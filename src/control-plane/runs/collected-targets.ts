/** Finds the scopes that a filter means in questions about collected data, and makes the plan that collects them again. */
import { UserError } from '../../errors.ts'
import type { Plan } from '../../plugin-kit/spec/plan.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { pluginsOfFamily } from '../../plugin-kit/task/family.ts'
import { storedBlueprint } from '../blueprints/blueprint-rows.ts'
import { planOf } from '../plan/blueprint-plan.ts'
import { makePlan } from '../plan/make-plan.ts'
import type { BlueprintConnection } from '../records.ts'
import { scopeParams } from '../scopes/scope-data.ts'
import type { CollectedFilter, ProjectService, ServiceContext } from '../services.ts'
import { allConnected, scopeKey, scopeTitle, sourceNamed } from '../sources.ts'
import { selectRows } from '../store.ts'

/** A scope, with the plugins and params that mark the data collected for it. */
export interface Target {
  readonly source: PluginSpec
  readonly plugins: readonly string[]
  readonly connectionId: number
  readonly scopeId: string
  readonly scopeName: string
  readonly params: string
}

interface Asking {
  readonly context: ServiceContext
  readonly projects: ProjectService
}

async function blueprintOf({ projects }: Asking, project: string) {
  const { blueprint } = await projects.get(project)
  if (!blueprint) throw new UserError(`Project ${project} has no blueprint: create one.`)
  return blueprint
}

/** The connections and scopes that the filter means. Without `scopeIds` all scopes of the connection are meant. */
async function chosen(asking: Asking, { project, plugin, connectionId, scopeId }: CollectedFilter) {
  const { plugins } = asking.context
  if (project !== undefined) {
    const { connections } = await blueprintOf(asking, project)
    return connections.map(({ pluginName, connectionId: id, scopes }) => ({
      pluginName,
      connectionId: Number(id),
      scopeIds: new Set(scopes.map((scope) => String(scope.scopeId))),
    }))
  }
  if (plugin !== undefined) {
    sourceNamed(plugins, plugin)
    return [{ pluginName: plugin, connectionId, scopeIds: scopeId === undefined ? undefined : new Set([scopeId]) }]
  }
  return allConnected(plugins).map(({ name }) => ({ pluginName: name, connectionId: undefined, scopeIds: undefined }))
}

export async function targetsOf(asking: Asking, filter: CollectedFilter): Promise<Target[]> {
  const { database, plugins } = asking.context
  const targets: Target[] = []
  for (const { pluginName, connectionId, scopeIds } of await chosen(asking, filter)) {
    const { source } = allConnected(plugins).find(({ name }) => name === pluginName) ?? {}
    // A push source is not collected from.
    if (!source) continue
    const rows = await selectRows(database.kysely, source.scope.table, (query) =>
      connectionId === undefined ? query : query.where('connection_id', '=', connectionId),
    )
    for (const row of rows) {
      const connection = Number(row.connection_id)
      const id = String(row[scopeKey(source)])
      if (scopeIds && !scopeIds.has(id)) continue
      targets.push({
        source,
        connectionId: connection,
        scopeId: id,
        scopeName: scopeTitle(source, row),
        // Another plugin may collect in its place, such as GraphQL instead of REST.
        plugins: pluginsOfFamily(plugins, source.name).map(({ name }) => name),
        params: scopeParams(source, connection, row),
      })
    }
  }
  return targets
}

/** Makes the plan that collects the scopes of the filter. For a project it also calculates the metrics. */
export async function planFor(
  asking: Asking,
  filter: CollectedFilter,
  skipCollectors: boolean,
): Promise<{ plan: Plan; blueprintId?: number }> {
  const { context } = asking
  if (filter.project !== undefined) {
    const { id } = await blueprintOf(asking, filter.project)
    const blueprint = await storedBlueprint(context.database.kysely, id, context.secrets)
    return { plan: await planOf(context, blueprint, { skipCollectors }), blueprintId: id }
  }
  const byConnection = Map.groupBy(
    await targetsOf(asking, filter),
    ({ source, connectionId }) => `${source.name} ${connectionId}`,
  )
  const connections = [...byConnection.values()].map((targets): BlueprintConnection => {
    const { source, connectionId } = targets[0] as Target
    return { pluginName: source.name, connectionId, scopes: targets.map(({ scopeId }) => ({ scopeId })) }
  })
  const blueprint = { projectName: '', connections, beforePlan: null, afterPlan: null }
  return { plan: await makePlan(context, blueprint, { skipCollectors }) }
}

/** Returns a function that finds the scope to which a row belongs. */
export function finderOf(targets: readonly Target[]) {
  const byMark = new Map(targets.flatMap((each) => each.plugins.map((name) => [`${name} ${each.params}`, each])))
  return ({ plugin, params }: { plugin: string; params: string }) => byMark.get(`${plugin} ${params}`)
}
export const namesOf = ({ source, connectionId, scopeId, scopeName }: Target) => ({
  source: source.name,
  connectionId,
  scopeId,
  scopeName,
})
export const pluginsOf = (targets: readonly Target[]) => [...new Set(targets.flatMap((each) => each.plugins))]
