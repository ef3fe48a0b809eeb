/** The stored configuration as a file that `apply` takes; secrets become references to the environment. */
import { stringify } from 'yaml'
import type { Blueprint, Settings } from '../pipelines/records.ts'
import { allConnected, type Connected } from '../pipelines/sources.ts'
import type { PluginSpec } from '../plugin-kit/plugin.ts'
import { hasMask } from '../secrets.ts'
import type { ReconcileContext } from './reconcile.ts'
import { idOfScope, scopesOf } from './reconcile-project.ts'
import { readSelectors, type StoredSelector } from './stored-selectors.ts'

type Context = Pick<ReconcileContext, 'database' | 'plugins' | 'services'>

export async function exportConfig(context: Context): Promise<string> {
  const owners = allConnected(context.plugins)
  const connections: Record<string, Record<string, unknown>> = {}
  for (const owner of owners) {
    const all = await context.services.connections.list(owner.name)
    if (all.length === 0) continue
    const entries = all.map(async (each) => [each.name, await exportConnection(context, owner, each)])
    connections[owner.name] = Object.fromEntries(await Promise.all(entries))
  }
  const projects: Record<string, unknown> = {}
  for (let page = 1; ; page++) {
    const { items } = await context.services.projects.list({ page, pageSize: 100 })
    for (const { name } of items) {
      // A list has no plans.
      const { description, metrics, blueprint } = await context.services.projects.get(name)
      projects[name] = {
        ...(description && { description }),
        metrics: metrics
          .filter(({ enable }) => enable)
          .map(({ pluginName, pluginOption }) =>
            hasFields(pluginOption) ? { [pluginName]: pluginOption } : pluginName,
          ),
        ...(blueprint && (await exportBlueprint(context, owners, blueprint))),
      }
    }
    if (items.length < 100) break
  }
  return stringify({ connections, projects })
}

const hasFields = (option: unknown): boolean =>
  option !== null && typeof option === 'object' && Object.keys(option).length > 0

const variable = (...parts: readonly string[]) =>
  parts
    .join('_')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')

/** What differs from what it would be anyway. */
const told = (fields: PluginSpec['connection']['fields'], values: Settings, secret: (name: string) => unknown) =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, { isManaged }]) => !isManaged)
      .filter(([name, { default: standard, kind }]) => {
        const value = values[name]
        const isEmpty = value === '' || value === null || value === undefined || value === 0
        return kind === 'secret' ? Boolean(value) || name === 'password' : !isEmpty && value !== standard
      })
      .map(([name, { kind }]) => [
        name,
        kind === 'secret' || hasMask(String(values[name])) ? secret(name) : values[name],
      ]),
  )

async function exportConnection(
  { services }: Context,
  { name: plugin, fields, source }: Connected,
  connection: Settings,
) {
  if (!source) return {}
  const env = (name: string) => ({ env: variable(plugin, connection.name, name) })
  const configs = await services.scopeConfigs.list(plugin, connection.id)
  const rules = configs.map(({ name, entities, ...values }) => [
    name,
    { ...(entities.length > 0 && { entities }), ...told(source.scopeConfig.fields, values, env) },
  ])
  return {
    ...told(fields, connection, env),
    ...(configs.length > 0 && { scopeConfigs: Object.fromEntries(rules) }),
  }
}

async function exportBlueprint(context: Context, owners: readonly Connected[], blueprint: Blueprint) {
  const collect = []
  const stored = await readSelectors(context.database, blueprint.id)
  for (const { pluginName, connectionId, scopes } of blueprint.connections) {
    const owner = owners.find((each) => each.name === pluginName)
    if (!owner) continue
    const { source } = owner
    const { name } = await context.services.connections.get(pluginName, connectionId)
    if (!source) {
      collect.push({ connection: `${pluginName}/${name}` })
      continue
    }
    const configs = await context.services.scopeConfigs.list(pluginName, connectionId)
    const configName = (id: number | undefined) => configs.find((each) => each.id === id)?.name
    const own = stored.find((each) => each.plugin === pluginName && each.connectionId === connectionId)
    const selectors: readonly Partial<StoredSelector>[] = own?.selectors ?? (await byName())
    for (const { scopeConfigId, scopes: chosen, except = [], archived, topic } of selectors) {
      const scopeConfig = configName(scopeConfigId)
      collect.push({
        connection: `${pluginName}/${name}`,
        scopes: chosen,
        ...(except.length > 0 && { except }),
        ...(archived && { archived }),
        ...(topic && { topic }),
        ...(scopeConfig && { scopeConfig }),
      })
    }

    async function byName(): Promise<Partial<StoredSelector>[]> {
      const wanted = new Set(scopes.map(({ scopeId }) => scopeId))
      const all = await scopesOf(context.services, pluginName, connectionId)
      const chosen = all.filter((scope) => wanted.has(idOfScope(source as PluginSpec, scope)))
      const shown = (scope: Settings) => (source?.scope.remote ? String(scope.fullName ?? scope.name) : plain(scope))
      return [...Map.groupBy(chosen, ({ scopeConfigId }) => scopeConfigId)].map(([scopeConfigId = 0, group]) => ({
        scopeConfigId,
        scopes: group.map(shown),
        archived: true,
      }))
    }
  }
  return {
    schedule: blueprint.isManual ? 'manual' : blueprint.cronConfig,
    ...(!blueprint.enable && { enable: false }),
    ...(blueprint.timeAfter && { timeAfter: blueprint.timeAfter.toISOString() }),
    ...(!blueprint.skipOnFail && { skipOnFail: false }),
    ...(blueprint.priority !== 0 && { priority: blueprint.priority }),
    ...(blueprint.labels.length > 0 && { labels: blueprint.labels }),
    ...(collect.length > 0 && { collect }),
  }
}

/** A scope without what belongs to its row rather than to it. */
const plain = (scope: Settings): Settings =>
  Object.fromEntries(
    Object.entries(scope).filter(
      ([name, value]) =>
        !name.startsWith('_') &&
        !['connectionId', 'scopeConfigId', 'createdAt', 'updatedAt'].includes(name) &&
        value !== '' &&
        value !== null,
    ),
  )
