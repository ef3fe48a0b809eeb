/** Turns a NORMAL blueprint into stages: project mapping, then every scope, then the metrics of the project. */

import type { AnyTable } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import type { DomainScope, Plan, PlanTask } from '../../plugin-kit/spec/plan.ts'
import type { Plugin, PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { projectMetricSettings } from '../../system/projects.ts'
import type { Blueprint, BlueprintConnection, SyncPolicy } from '../records.ts'
import type { ServiceContext } from '../services.ts'
import type { SettingsRow } from '../sources.ts'
import { pluginNamed, scopeKey, scopeTitle } from '../sources.ts'
import { findRow, selectRows } from '../store.ts'
import { domainScopeOf, domainScopesOf, entitiesOf } from './domain-scopes.ts'
import { metricOption, metricsOf } from './metric-plans.ts'
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
    ...(projectName ? mapProject(context.plugins, projectName, domainScopes) : []),
    ...(skipCollectors ? withoutCollectors(context.plugins, collecting) : collecting),
    ...(projectName ? await planMetrics(context, projectName, domainScopes) : []),
    ...(afterPlan ?? []),
  ]
}

/**
 * Makes a plan that only recalculates the numbers of a project from stored data: project mapping and metrics, without
 * collecting or converting.
 */
export async function makeCalculationPlan(
  context: Context,
  { projectName, connections }: Pick<Planned, 'projectName' | 'connections'>,
): Promise<Plan> {
  const sources = await Promise.all(connections.map((connection) => planSource(context, connection)))
  const domainScopes = sources.flatMap((source) => source.domainScopes)
  return [
    ...mapProject(context.plugins, projectName, domainScopes),
    ...(await planMetrics(context, projectName, domainScopes)),
  ]
}

function mapProject(plugins: readonly Plugin[], projectName: string, domainScopes: readonly DomainScope[]): Plan {
  const stage = plugins.flatMap(({ plans }) => plans?.mapProject?.(projectName, domainScopes) ?? [])
  return stage.length > 0 ? [stage] : []
}

async function planMetrics({ database, plugins }: Context, projectName: string, domainScopes: readonly DomainScope[]) {
  const settings = await selectRows(database.kysely, projectMetricSettings, (query) =>
    query.where('project_name', '=', projectName).where('enable', '=', true).orderBy('plugin_name'),
  )
  const metrics = metricsOf(plugins)
  const plans = settings.map(({ plugin_name, plugin_option }) =>
    metrics.get(plugin_name)?.plan({ projectName, domainScopes, option: metricOption(plugin_option) }),
  )
  return mergePlans(plans.filter((plan) => plan !== undefined))
}

interface SourcePlan {
  readonly plan: Plan
  readonly domainScopes: readonly DomainScope[]
}

/** Plans one stage per scope, so that the scopes of a connection do not compete for its request quota. */
async function planSource(context: Context, connection: BlueprintConnection): Promise<SourcePlan> {
  const plugin = pluginNamed(context.plugins, connection.pluginName)
  const { source, pushSource } = plugin
  const { kysely } = context.database
  const { connectionId } = connection
  const stored = async (table: AnyTable) => {
    const row = await findRow(kysely, table, { id: connectionId })
    if (!row) throw new UserError(`There is no ${plugin.name} connection ${connectionId}.`)
    return row
  }
  // A push source is not collected from: the data that it pushed is stored already.
  if (pushSource) {
    const { name } = await stored(pushSource.connections)
    return { plan: [], domainScopes: pushSource.scopes({ id: connectionId, name: String(name) }).map(domainScopeOf) }
  }
  if (!source) throw new UserError(`${plugin.name} has no connections: it is not a data source.`)
  const { connections, scopeConfigs, settingsOf } = settingsTables(source)
  const row = await stored(connections)
  const worker = workerOf(context.plugins, plugin, source.plan?.plugin?.(settingsOf(connections, row)))
  /** The same for all scopes with one scope config. Computed once per config, since there are few configs and many scopes. */
  const rulesOf = ({ entities: words, ...config }: SettingsRow = {}) => {
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
    const planned = {
      plugin: source.name,
      connectionId,
      title: scopeTitle(source, scope),
      entities,
      settings,
      repoId: own.find(({ table }) => table === 'repos')?.rowId,
      cloneUrl: source.plan?.cloneUrl?.(scope),
    }
    const beside = context.plugins.flatMap(({ plans }) => plans?.withScope?.(planned) ?? [])
    stages.push([{ plugin: worker.name, subtasks, options: optionsOf(source, scope) }, ...beside, ...waiting])
    waiting = context.plugins.flatMap(({ plans }) => plans?.afterScope?.(planned) ?? [])
    domainScopes.push(...own)
  }
  return { plan: waiting.length > 0 ? [...stages, waiting] : stages, domainScopes }
}

/** Returns the plugin that collects: the stand-in if there is one of that name, otherwise the plugin itself. */
export const workerOf = (plugins: readonly Plugin[], plugin: Plugin, standIn: string | undefined): Plugin =>
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

/** The task options that identify a scope: all fields by which the plugin looks scopes up. */
export const optionsOf = (source: PluginSpec, scope: SettingsRow): Record<string, unknown> => ({
  connectionId: scope.connection_id,
  ...Object.fromEntries(Object.entries(source.scope.options).map(([option, column]) => [option, scope[column]])),
})

/** Keeps what only reads stored data. Tasks that read a git history are dropped unless they are alone in their stage. */
function withoutCollectors(plugins: readonly Plugin[], plan: Plan): Plan {
  const collecting = new Set(plugins.filter(({ plans }) => plans?.withScope).map(({ name }) => name))
  return plan
    .map((stage) =>
      stage
        .filter(({ plugin }) => !collecting.has(plugin) || stage.length === 1)
        .map((task) => ({ ...task, subtasks: task.subtasks?.filter((name) => !isCollectorName(name)) ?? [] }))
        // An empty list would mean "those that run by default", collectors included, so a task that lost all its subtasks is dropped.
        .filter((task, index) => task.subtasks.length > 0 || !stage[index]?.subtasks?.length),
    )
    .filter((stage) => stage.length > 0)
}
