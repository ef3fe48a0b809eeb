/** What collections got and did not get, what was put aside, and how both are driven again. */
import { sql } from 'kysely'
import { among, inPieces } from '../database/pieces.ts'
import { UserError } from '../errors.ts'
import { gaps, isAskedAgain, reopenGaps, type StoredGap } from '../plugin-kit/gaps.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { quarantine } from '../plugin-kit/quarantine.ts'
import { receipts } from '../plugin-kit/receipts.ts'
import { storedBlueprint } from './blueprint-rows.ts'
import { planOf } from './blueprints.ts'
import { makePlan } from './plan/make-plan.ts'
import type { BlueprintConnection, Pipeline, Plan } from './records.ts'
import { scopeParams } from './scope-data.ts'
import type {
  CollectedFilter,
  CollectedService,
  GapRecord,
  PipelineService,
  ProjectService,
  ServiceContext,
} from './services.ts'
import { allConnected, scopeKey, scopeTitle, sourceNamed } from './sources.ts'
import { publicRow, selectPage, selectRows } from './store.ts'

/** A scope, and how what was collected for it is marked. */
interface Target {
  readonly source: PluginSpec
  readonly plugins: readonly string[]
  readonly connectionId: number
  readonly scopeId: string
  readonly scopeName: string
  readonly params: string
}

export function collectedService(
  context: ServiceContext,
  projects: ProjectService,
  pipelines: PipelineService,
): CollectedService {
  const { database, plugins } = context
  const { kysely } = database

  async function blueprintOf(project: string) {
    const { blueprint } = await projects.get(project)
    if (!blueprint) throw new UserError(`Project ${project} has no blueprint: create one.`)
    return blueprint
  }

  /** The connections and scopes that are meant; without `scopes`: all of a connection. */
  async function chosen({ project, plugin, connectionId, scopeId }: CollectedFilter) {
    if (project !== undefined) {
      const { connections } = await blueprintOf(project)
      return connections.map(({ pluginName, connectionId: id, scopes }) => ({
        ...{ pluginName, connectionId: Number(id) },
        scopeIds: new Set(scopes.map((scope) => String(scope.scopeId))),
      }))
    }
    if (plugin !== undefined) {
      sourceNamed(plugins, plugin)
      return [{ pluginName: plugin, connectionId, scopeIds: scopeId === undefined ? undefined : new Set([scopeId]) }]
    }
    return allConnected(plugins).map(({ name }) => ({ pluginName: name, connectionId: undefined, scopeIds: undefined }))
  }

  async function targetsOf(filter: CollectedFilter): Promise<Target[]> {
    const targets: Target[] = []
    for (const { pluginName, connectionId, scopeIds } of await chosen(filter)) {
      const { source } = allConnected(plugins).find(({ name }) => name === pluginName) ?? {}
      // Nothing is asked of what pushes.
      if (!source) continue
      const rows = await selectRows(kysely, source.scope.table, (query) =>
        connectionId === undefined ? query : query.where('connection_id', '=', connectionId),
      )
      for (const row of rows) {
        const connection = Number(row.connection_id)
        const id = String(row[scopeKey(source)])
        if (scopeIds && !scopeIds.has(id)) continue
        targets.push({
          ...{ source, connectionId: connection, scopeId: id, scopeName: scopeTitle(source, row) },
          // Another may stand in and work for it: GraphQL for REST.
          plugins: plugins
            .map(({ name }) => name)
            .filter((name) => name === source.name || name.startsWith(`${source.name}_`)),
          params: scopeParams(source, connection, row),
        })
      }
    }
    return targets
  }

  /** Which of the scopes a row is about. */
  function finderOf(targets: readonly Target[]) {
    const byMark = new Map(targets.flatMap((each) => each.plugins.map((name) => [`${name} ${each.params}`, each])))
    return ({ plugin, params }: { plugin: string; params: string }) => byMark.get(`${plugin} ${params}`)
  }
  const namesOf = ({ source, connectionId, scopeId, scopeName }: Target) => ({
    ...{ source: source.name, connectionId, scopeId, scopeName },
  })
  const pluginsOf = (targets: readonly Target[]) => [...new Set(targets.flatMap((each) => each.plugins))]

  /** What collects the scopes that are meant, and then the metrics of a project. */
  async function planFor(
    filter: CollectedFilter,
    skipCollectors: boolean,
  ): Promise<{ plan: Plan; blueprintId?: number }> {
    if (filter.project !== undefined) {
      const { id } = await blueprintOf(filter.project)
      const blueprint = await storedBlueprint(kysely, id, context.secrets)
      return { plan: await planOf(context, blueprint, { skipCollectors }), blueprintId: id }
    }
    const byConnection = Map.groupBy(
      await targetsOf(filter),
      ({ source, connectionId }) => `${source.name} ${connectionId}`,
    )
    const connections = [...byConnection.values()].map((targets): BlueprintConnection => {
      const { source, connectionId } = targets[0] as Target
      return { pluginName: source.name, connectionId, scopes: targets.map(({ scopeId }) => ({ scopeId })) }
    })
    const blueprint = { projectName: '', connections, beforePlan: null, afterPlan: null }
    return { plan: await makePlan(context, blueprint, { skipCollectors }) }
  }

  async function targetsToDrive(filter: CollectedFilter): Promise<Target[]> {
    const targets = await targetsOf(filter)
    if (targets.length === 0) throw new UserError('There is no such scope.', { status: 404 })
    return targets
  }

  return {
    async receipts(filter) {
      const targets = await targetsOf(filter)
      if (targets.length === 0) return []
      const find = finderOf(targets)
      // There may be more scopes than a statement has room for: which rows are theirs is found out here.
      const isMeant = (query: any) => query.where('plugin', 'in', pluginsOf(targets))
      const missing = Map.groupBy(await selectRows(kysely, gaps, isMeant), (gap) => `${gap.raw_table} ${gap.params}`)
      const rows = await selectRows(kysely, receipts, (query) => isMeant(query).orderBy('params').orderBy('raw_table'))
      return rows.flatMap((row) => {
        const target = find(row)
        if (!target) return []
        const { params: _, ...receipt } = publicRow(receipts, row)
        const own = missing.get(`${row.raw_table} ${row.params}`) ?? []
        return [{ ...namesOf(target), ...receipt, gaps: own.map(publicGap) } as any]
      })
    },
    async quarantined({ page, pageSize, ...filter }) {
      const targets = await targetsOf(filter)
      if (targets.length === 0) return { count: 0, items: [] }
      const find = finderOf(targets)
      const isOfPlugins = (query: any) => query.where('plugin', 'in', pluginsOf(targets))
      const marked = await isOfPlugins(
        kysely.selectFrom(quarantine.name).select(['plugin', 'params']).distinct(),
      ).execute()
      const params: string[] = marked.filter(find).map((row: { params: string }) => row.params)
      if (params.length === 0) return { count: 0, items: [] }
      const { count, items } = await selectPage(
        kysely,
        quarantine,
        { ...(page && { page }), ...(pageSize && { pageSize }) },
        (query) => isOfPlugins(query).where(isOneOf(params)),
        [
          ['updated_at', 'desc'],
          ['raw_table', 'asc'],
          ['raw_id', 'asc'],
          ['subtask', 'asc'],
          ['record_key', 'asc'],
        ],
      )
      return {
        count,
        items: items.map((row) => {
          const { params: _, ...rest } = publicRow(quarantine, row)
          const target = find(row)
          return { ...(target && namesOf(target)), ...rest } as any
        }),
      }
    },
    async redrive(filter) {
      const names = new Set(pluginsOf(await targetsToDrive(filter)))
      const { plan, ...blueprint } = await planFor(filter, true)
      const marked = plan.map((stage) =>
        stage.map((task) => (names.has(task.plugin) ? { ...task, options: { ...task.options, redrive: true } } : task)),
      )
      return start('What was put aside, again', { plan: marked, ...blueprint, skipCollectors: true })
    },
    async askAgain(filter) {
      for (const { plugins: names, params } of await targetsToDrive(filter)) await reopenGaps(database, names, params)
      return start('What is missing, again', await planFor(filter, false))
    },
  }

  function start(
    name: string,
    pipeline: { readonly plan: Plan; readonly blueprintId?: number; readonly skipCollectors?: boolean },
  ): Promise<Pipeline> {
    return pipelines.create({ name, ...pipeline })
  }
}

/** Nobody looks through the records of more scopes than a statement has room for. */
const MOST_PIECES = 10
function isOneOf(params: readonly string[]) {
  const pieces = [...inPieces(new Set(params))].slice(0, MOST_PIECES)
  return sql<boolean>`(${sql.join(
    pieces.map((piece) => among(sql.ref('params'), piece)),
    sql` or `,
  )})`
}

function publicGap(gap: StoredGap): GapRecord {
  const { kind, address, status, reason, input, since, missing, attempts } = gap
  return { kind, address, status, reason, input, since, missing, attempts, isAskedAgain: isAskedAgain(gap) }
}
