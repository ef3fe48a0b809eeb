import { UserError } from '../errors.ts'
import type { Blueprint, BlueprintConnection, Metric, Project, Scope, Settings } from '../pipelines/records.ts'
import type { Services } from '../pipelines/services.ts'
import { scopeKey } from '../pipelines/sources.ts'
import { publicName } from '../pipelines/store.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import type { ProjectConfig, SelectorConfig } from './document.ts'
import type { ConfigChange, KnownConnection, ReconcileContext, Report } from './reconcile.ts'
import { chooseScopes } from './selectors.ts'
import { type StoredSelector, saveSelectors } from './stored-selectors.ts'

export async function reconcileProject(
  name: string,
  config: ProjectConfig,
  connections: ReadonlyMap<string, KnownConnection>,
  context: ReconcileContext,
  report: Report,
): Promise<void> {
  const { services, isDryRun } = context
  const before = (await services.projects.exists(name)) ? await services.projects.get(name) : undefined
  const metrics = metricsOf(config)
  const changed = fieldsOf(
    ['description', before?.description ?? '', config.description],
    ['metrics', metricNames(before?.metrics ?? []), metricNames(metrics)],
  )
  if (!before) {
    report({ action: 'create', subject: `project ${name}`, fields: changed })
    if (!isDryRun) await services.projects.create({ name, description: config.description, metrics })
  } else if (changed.length > 0) {
    report({ action: 'update', subject: `project ${name}`, fields: changed })
    if (!isDryRun) await services.projects.update(name, { description: config.description, metrics })
  }
  const project = isDryRun ? before : await services.projects.get(name)
  const scopes = await reconcileScopes(name, config, connections, context, report)
  await reconcileBlueprint(name, config, project, scopes, context, report)
}

interface Collected {
  readonly connection: KnownConnection
  readonly scopeIds: readonly string[]
  readonly selectors: readonly StoredSelector[]
}

/** Puts the scopes that the selectors choose now, each with its scope config. */
async function reconcileScopes(
  project: string,
  { collect }: ProjectConfig,
  connections: ReadonlyMap<string, KnownConnection>,
  { services, isDryRun }: ReconcileContext,
  report: Report,
): Promise<Collected[]> {
  const byConnection = Map.groupBy(collect, ({ connection }) => connection)
  const collected: Collected[] = []
  for (const [reference, selectors] of byConnection) {
    const connection = connections.get(reference)
    if (!connection) throw new UserError(`project ${project}: ${reference} is not among the connections of this file.`)
    const { id, owner } = connection
    const { source } = owner
    if (!source) {
      if (selectors.some(({ scopes }) => scopes.length > 0)) {
        throw new UserError(`project ${project}: ${reference} has no scopes: it is taken whole. Leave them out.`)
      }
      collected.push({ connection, scopeIds: [], selectors: [] })
      continue
    }
    const known = id ? await scopesOf(services, source.name, id) : []
    const ids = new Set<string>()
    const stored: StoredSelector[] = []
    for (const selector of selectors) {
      if (selector.scopes.length === 0) throw new UserError(`project ${project}: ${reference} needs scopes: name some.`)
      const configId = scopeConfigId(reference, connection, selector)
      stored.push({ ...rulesOf(selector), scopeConfigId: configId ?? 0 })
      for (const data of await chooseScopes(source, connection.settings, selector)) {
        const scopeId = idOfScope(source, data)
        ids.add(scopeId)
        const existing = known.find((each) => idOfScope(source, each) === scopeId)
        const isRight = existing && (selector.scopeConfig === undefined || existing.scopeConfigId === configId)
        if (isRight) continue
        const wanted = { ...data, ...(configId && { scopeConfigId: configId }) }
        const fields = fieldsOf(['scopeConfig', existing?.scopeConfigId ?? null, selector.scopeConfig ?? null])
        const title = String(data.fullName ?? data.name ?? scopeId)
        report({ action: existing ? 'update' : 'create', subject: `${source.name} scope ${title}`, fields })
        if (isDryRun || !id) continue
        if (existing) await services.scopes.update(source.name, id, scopeId, { scopeConfigId: configId ?? null })
        else await services.scopes.put(source.name, id, [wanted])
      }
    }
    collected.push({ connection, scopeIds: [...ids].sort(), selectors: stored })
  }
  return collected
}

/** What a project begins with. */
const NEW_BLUEPRINT: Partial<Blueprint> = {
  enable: true,
  isManual: false,
  cronConfig: '0 0 * * *',
  skipOnFail: true,
  priority: 0,
  labels: [],
  connections: [],
}

async function reconcileBlueprint(
  name: string,
  config: ProjectConfig,
  project: Project | undefined,
  collected: readonly Collected[],
  { services, database, isDryRun }: ReconcileContext,
  report: Report,
): Promise<void> {
  const isManual = config.schedule.trim().toLowerCase() === 'manual'
  const connections: BlueprintConnection[] = collected
    .filter(({ connection, scopeIds }) => connection.owner.feed || scopeIds.length > 0)
    .map(({ connection, scopeIds }) => ({
      pluginName: connection.owner.name,
      connectionId: connection.id ?? 0,
      scopes: scopeIds.map((scopeId) => ({ scopeId })),
    }))
  const wanted: Partial<Blueprint> = {
    enable: config.enable,
    isManual,
    ...(!isManual && { cronConfig: config.schedule }),
    ...(config.timeAfter && { timeAfter: config.timeAfter }),
    skipOnFail: config.skipOnFail,
    priority: config.priority,
    labels: [...config.labels].sort(),
    connections,
  }
  const before = project?.blueprint ?? undefined
  const known: Partial<Blueprint> = before ?? NEW_BLUEPRINT
  const changed = fieldsOf(
    ...Object.entries(wanted).map(([field, after]) => {
      const stored = known[field as keyof Blueprint] ?? null
      return [
        field,
        field === 'connections' ? inOrder(stored) : stored,
        field === 'connections' ? inOrder(after) : after,
      ] as const
    }),
  )
  if (changed.length > 0) report({ action: 'update', subject: `schedule of ${name}`, fields: changed.map(shortened) })
  if (isDryRun || !before) return
  if (changed.length > 0) await services.blueprints.update(before.id, wanted)
  await saveSelectors(
    database,
    before.id,
    collected
      .filter(({ selectors }) => selectors.length > 0)
      .map(({ connection, selectors }) => ({
        plugin: connection.owner.name,
        connectionId: connection.id ?? 0,
        selectors,
      })),
  )
}

/** Whatever order they are stored in. */
const inOrder = (connections: any): any =>
  (connections ?? [])
    .map(({ pluginName, connectionId, scopes }: BlueprintConnection) => ({
      pluginName,
      connectionId,
      scopes: scopes.map(({ scopeId }) => scopeId).sort(),
    }))
    .sort((left: any, right: any) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1))

/** Of many scopes their number says enough; each new one has a line of its own. A connection without any counts whole. */
const shortened = (field: ConfigChange['fields'][number]): ConfigChange['fields'][number] => {
  const count = (value: any) =>
    Array.isArray(value) ? value.reduce((sum, { scopes }) => sum + (scopes.length || 1), 0) : 0
  return field.name === 'connections'
    ? { name: 'scopes', before: count(field.before), after: count(field.after) }
    : field
}

const fieldsOf = (...fields: readonly (readonly [name: string, before: unknown, after: unknown])[]) =>
  fields
    .filter(([, before, after]) => JSON.stringify(before) !== JSON.stringify(after))
    .map(([name, before, after]) => ({ name, before, after }))

const metricsOf = ({ metrics }: ProjectConfig): Metric[] =>
  metrics.flatMap((each) =>
    typeof each === 'string'
      ? [{ pluginName: each, pluginOption: {}, enable: true }]
      : Object.entries(each).map(([pluginName, pluginOption]) => ({ pluginName, pluginOption, enable: true })),
  )
const metricNames = (metrics: readonly Metric[]) =>
  metrics
    .filter(({ enable }) => enable)
    .map(({ pluginName, pluginOption }) => `${pluginName} ${JSON.stringify(pluginOption || {})}`)
    .sort()

const rulesOf = ({ scopes, except, archived, topic }: SelectorConfig) => ({
  scopes,
  except,
  archived,
  ...(topic !== undefined && { topic }),
})

function scopeConfigId(reference: string, { scopeConfigs }: KnownConnection, { scopeConfig }: SelectorConfig) {
  if (scopeConfig === undefined) return undefined
  if (scopeConfigs.has(scopeConfig)) return scopeConfigs.get(scopeConfig)
  throw new UserError(`${scopeConfig} is not among the scope configs of ${reference} in this file.`)
}

export const idOfScope = (source: PluginSpec, scope: Settings): string => String(scope[publicName(scopeKey(source))])

const PAGE = 1000
export async function scopesOf(services: Services, plugin: string, connectionId: number): Promise<Scope[]> {
  const all: Scope[] = []
  for (let page = 1; ; page++) {
    const { items } = await services.scopes.list(plugin, connectionId, { page, pageSize: PAGE })
    all.push(...items.map(({ scope }) => scope))
    if (items.length < PAGE) return all
  }
}
