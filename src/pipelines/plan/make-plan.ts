/** A NORMAL blueprint becomes stages: project mapping, then every scope, then the project's metrics. */
import type { Table } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import type { PluginSpec } from '../../plugin-kit/plugin.ts'
import { settingsTables } from '../../plugin-kit/settings-tables.ts'
import type { Plugin } from '../../plugin-kit/subtask.ts'
import { projectMetricSettings } from '../../system/projects.ts'
import type { Blueprint, BlueprintConnection, Plan, PlanTask, SyncPolicy } from '../records.ts'
import type { ServiceContext } from '../services.ts'
import { pluginNamed, scopeKey, scopeTitle } from '../sources.ts'
import { findRow, selectRows } from '../store.ts'
import { type DomainScope, domainScopeOf, domainScopesOf, entitiesOf } from './domain-scopes.ts'
import { METRIC_PLANS, metricOption } from './metric-plans.ts'
import { mergePlans } from './parse-plan.ts'
import { isCollectorName, subtasksFor } from './select-subtasks.ts'

type Planned = Pick<Blueprint, 'projectName' | 'connections' | 'beforePlan' | 'afterPlan'>
type Context = Pick<ServiceContext, 'database' | 'plugins'>

export async function makePlan(
  context: Context,
  { projectName, connections, beforePlan, afterPlan }: Planned,
  { skipCollectors }: Pick<SyncPolicy, 'skipCollectors'>,
): Promise<Plan> {
  const sources = await Promise.all(connections.map((connection) => planSource(context, connection)))
  const domainScopes = sources.flatMap((source) => source.domainScopes)
  const collecting = mergePlans(sources.map(({ plan }) => plan))
  return [
    ...(beforePlan ?? []),
    ...(projectName ? [[projectMapping(projectName, domainScopes)]] : []),
    ...(skipCollectors ? withoutCollectors(collecting) : collecting),
    ...(projectName ? await planMetrics(context, projectName, domainScopes) : []),
    ...(afterPlan ?? []),
  ]
}

const projectMapping = (projectName: string, scopes: readonly DomainScope[]): PlanTask => ({
  plugin: 'org',
  subtasks: ['setProjectMapping'],
  options: { projectMappings: [{ projectName, scopes }] },
})

async function planMetrics({ database }: Context, projectName: string, domainScopes: readonly DomainScope[]) {
  const settings = await selectRows(database.kysely, projectMetricSettings, (query) =>
    query.where('project_name', '=', projectName).where('enable', '=', true).orderBy('plugin_name'),
  )
  const plans = settings.map(({ plugin_name, plugin_option }) =>
    METRIC_PLANS[plugin_name]?.({ projectName, domainScopes, option: metricOption(plugin_option) }),
  )
  return mergePlans(plans.filter((plan) => plan !== undefined))
}

interface SourcePlan {
  readonly plan: Plan
  readonly domainScopes: readonly DomainScope[]
}

/** One stage a scope, so that the scopes of a connection do not fight for its quota. */
async function planSource(context: Context, connection: BlueprintConnection): Promise<SourcePlan> {
  const plugin = pluginNamed(context.plugins, connection.pluginName)
  const { source, feed } = plugin
  const { kysely } = context.database
  const { connectionId } = connection
  const stored = async (table: Table<any>) => {
    const row = await findRow(kysely, table, { id: connectionId })
    if (!row) throw new UserError(`There is no ${plugin.name} connection ${connectionId}.`)
    return row
  }
  // Nothing is asked of a feed: what it pushed is there.
  if (feed) {
    const { name } = await stored(feed.connections)
    return { plan: [], domainScopes: feed.scopes({ id: connectionId, name: String(name) }).map(domainScopeOf) }
  }
  if (!source) throw new UserError(`${plugin.name} has no connections: it is no data source.`)
  const { connections, scopeConfigs, settingsOf } = settingsTables(source)
  const row = await stored(connections)
  const worker = workerOf(context.plugins, plugin, source.plan?.plugin?.(settingsOf(connections, row)))
  const isInstalled = (name: string) => context.plugins.some((each) => each.name === name)
  /** Alike for all scopes of a scope config, of which there are few. */
  const rulesOf = ({ entities: words, ...config }: Record<string, any> = {}) => {
    const entities = entitiesOf(Array.isArray(words) ? words : null)
    return { entities, subtasks: subtasksFor(worker, entities), settings: settingsOf(scopeConfigs, config) }
  }
  const configs = await selectRows(kysely, scopeConfigs)
  const rules = new Map(configs.map((config) => [config.id, rulesOf(config)]))
  const withoutConfig = rulesOf()
  const stages: PlanTask[][] = []
  const domainScopes: DomainScope[] = []
  let waiting: PlanTask[] = []
  for (const scope of await scopesOf(context, source, connection)) {
    const { entities, subtasks, settings } = rules.get(scope.scope_config_id) ?? withoutConfig
    const own = domainScopesOf(source, connectionId, scope, entities)
    const repoId = own.find(({ table }) => table === 'repos')?.rowId
    const stage: PlanTask[] = [{ plugin: worker.name, subtasks, options: optionsOf(source, scope) }]
    if (entities.has('CODE') && source.plan?.cloneUrl && repoId && isInstalled('gitextractor')) {
      stage.push(gitHistory(source, scope, repoId, settings.prSizeExcludedFileExtensions))
    }
    stages.push([...stage, ...waiting])
    // Tags can be compared once the history is there.
    waiting = settings.refdiff && repoId && isInstalled('refdiff') ? [compareTags(repoId, settings.refdiff)] : []
    domainScopes.push(...own)
  }
  return { plan: waiting.length > 0 ? [...stages, waiting] : stages, domainScopes }
}

const workerOf = (plugins: readonly Plugin[], plugin: Plugin, standIn: string | undefined): Plugin =>
  plugins.find(({ name }) => name === standIn) ?? plugin

async function scopesOf({ database }: Context, source: PluginSpec, { connectionId, scopes }: BlueprintConnection) {
  const rows = await selectRows(database.kysely, source.scope.table, (query) =>
    query.where('connection_id', '=', connectionId),
  )
  const byId = new Map(rows.map((row) => [String(row[scopeKey(source)]), row]))
  return scopes.map(({ scopeId }) => {
    const row = byId.get(String(scopeId))
    if (!row) throw new UserError(`Connection ${connectionId} of ${source.name} has no scope ${scopeId}: add it first.`)
    return row
  })
}

/** How a task names its scope: everything that the plugin looks scopes up by. */
const optionsOf = (source: PluginSpec, scope: any): Record<string, unknown> => ({
  connectionId: scope.connection_id,
  ...Object.fromEntries(Object.entries(source.scope.options).map(([option, column]) => [option, scope[column]])),
})

/** Without token and proxy: the plugin reads those from the connection, so that no plan ever holds a secret. */
const gitHistory = (source: PluginSpec, scope: any, repoId: string, excluded: unknown): PlanTask => ({
  plugin: 'gitextractor',
  subtasks: [],
  options: {
    url: source.plan?.cloneUrl?.(scope),
    name: scopeTitle(source, scope),
    fullName: scopeTitle(source, scope),
    repoId,
    connectionId: scope.connection_id,
    pluginName: source.name,
    ...(Array.isArray(excluded) && excluded.length > 0 && { excludeFileExtensions: excluded }),
  },
})

const compareTags = (repoId: string, options: Record<string, unknown>): PlanTask => ({
  plugin: 'refdiff',
  subtasks: [],
  options: { ...options, repoId },
})

/** Everything that only reads what is stored; git history is left out where something else is there to do. */
function withoutCollectors(plan: Plan): Plan {
  return plan
    .map((stage) =>
      stage
        .filter(({ plugin }) => plugin !== 'gitextractor' || stage.length === 1)
        .map((task) => ({ ...task, subtasks: task.subtasks?.filter((name) => !isCollectorName(name)) ?? [] }))
        // An empty list would mean "those that run by default", collectors included.
        .filter((task, index) => task.subtasks.length > 0 || !stage[index]?.subtasks?.length),
    )
    .filter((stage) => stage.length > 0)
}
