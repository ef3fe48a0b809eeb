/** Makes stored configuration say what a file says, or tells what that would change: one walk does both. */
import type { Database } from '../database/database.ts'
import { UserError } from '../errors.ts'
import type { Settings } from '../pipelines/records.ts'
import type { Services } from '../pipelines/services.ts'
import { checkSettings } from '../pipelines/settings.ts'
import { sourceNamed } from '../pipelines/sources.ts'
import type { Field, Fields, PluginSpec } from '../plugin-kit/plugin.ts'
import type { Plugin } from '../plugin-kit/subtask.ts'
import { type ConfigDocument, type ConnectionConfig, resolveEnvironment } from './document.ts'
import { reconcileProject } from './reconcile-project.ts'

export interface ConfigChange {
  readonly action: 'create' | 'update'
  /** Such as `github connection main`. */
  readonly subject: string
  readonly fields: readonly { readonly name: string; readonly before: unknown; readonly after: unknown }[]
}

export interface ReconcileContext {
  readonly database: Database
  readonly plugins: readonly Plugin[]
  readonly services: Services
  readonly environment: NodeJS.ProcessEnv
  /** Only tell. */
  readonly isDryRun: boolean
}

/** A connection of the file. Without an id, it is yet to be created. */
export interface KnownConnection {
  readonly source: PluginSpec
  readonly id: number | undefined
  /** Secrets in clear. */
  readonly settings: Settings
  /** Scope configs by name; undefined: yet to be created. */
  readonly scopeConfigs: ReadonlyMap<string, number | undefined>
}

export type Report = (change: ConfigChange | undefined) => void

export async function reconcile(document: ConfigDocument, context: ReconcileContext): Promise<ConfigChange[]> {
  const changes: ConfigChange[] = []
  const report: Report = (change) => {
    if (change && (change.action === 'create' || change.fields.length > 0)) changes.push(change)
  }
  const connections = new Map<string, KnownConnection>()
  for (const [plugin, byName] of Object.entries(document.connections)) {
    const source = sourceNamed(context.plugins, plugin)
    for (const [name, config] of Object.entries(byName)) {
      connections.set(`${plugin}/${name}`, await reconcileConnection(source, name, config, context, report))
    }
  }
  for (const [name, project] of Object.entries(document.projects)) {
    await reconcileProject(name, project, connections, context, report)
  }
  return changes
}

async function reconcileConnection(
  source: PluginSpec,
  name: string,
  config: ConnectionConfig,
  { services, environment, isDryRun }: ReconcileContext,
  report: Report,
): Promise<KnownConnection> {
  const where = `${source.name} connection ${name}`
  const { fields } = source.connection
  const { scopeConfigs, ...sent } = config
  requireKnown(where, fields, sent)
  const wanted = resolveEnvironment(where, sent, (field) => fields[field]?.kind === 'secret', environment)
  const found = (await services.connections.list(source.name)).find((each) => each.name === name)
  const stored = found && (await services.connections.reveal(source.name, found.id))
  const settings = checkSettings(fields, wanted, stored)
  const changed = differences(fields, stored, settings)
  let id = found?.id
  if (!found || changed.length > 0) {
    report({ action: found ? 'update' : 'create', subject: where, fields: changed })
    if (!isDryRun) {
      const sending = { ...wanted, name }
      const saved = found
        ? await services.connections.update(source.name, found.id, sending)
        : await services.connections.create(source.name, sending)
      id = saved.id
    }
  }
  const configs = new Map<string, number | undefined>()
  for (const [configName, rules] of Object.entries(scopeConfigs)) {
    configs.set(configName, await reconcileScopeConfig(source, id, configName, rules))
  }
  return { source, id, settings: { ...settings, name, ...(id && { id }) }, scopeConfigs: configs }

  async function reconcileScopeConfig(
    _source: PluginSpec,
    connectionId: number | undefined,
    configName: string,
    rules: Settings,
  ) {
    const subject = `${source.name} scope config ${configName}`
    const described = { ...source.scopeConfig.fields, entities: ENTITIES }
    requireKnown(subject, described, rules)
    const existing = connectionId ? await services.scopeConfigs.list(source.name, connectionId) : []
    const before = existing.find((each) => each.name === configName)
    const after = { entities: [], ...before, ...checkSettings(source.scopeConfig.fields, rules, before), ...rules }
    const differing = differences(described, before, after)
    if (before && differing.length === 0) return before.id
    report({ action: before ? 'update' : 'create', subject, fields: differing })
    if (isDryRun || !connectionId) return before?.id
    const saved = before
      ? await services.scopeConfigs.update(source.name, connectionId, before.id, rules)
      : await services.scopeConfigs.create(source.name, connectionId, { ...rules, name: configName })
    return saved.id
  }
}

const ENTITIES: Field = { kind: 'strings', label: 'Entities' }

function requireKnown(where: string, fields: Fields, sent: Settings): void {
  const unknown = Object.keys(sent).find((name) => !(name in fields))
  if (unknown) throw new UserError(`${where}: ${unknown} is not one of ${Object.keys(fields).join(', ')}.`)
}

const HIDDEN = '(secret)'
const same = (left: unknown, right: unknown) => JSON.stringify(left ?? null) === JSON.stringify(right ?? null)

/** Fields that change; what is new and as it would be anyway is not told. */
export function differences(fields: Fields, before: Settings | undefined, after: Settings): ConfigChange['fields'] {
  return Object.entries(fields)
    .filter(([name, { default: standard }]) => {
      if (before) return !same(before[name], after[name])
      return !same(after[name], standard) && !isEmpty(after[name])
    })
    .map(([name, { kind }]) => {
      const shown = (value: unknown) => (kind === 'secret' && value ? HIDDEN : (value ?? null))
      return { name, before: before ? shown(before[name]) : null, after: shown(after[name]) }
    })
}
const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === '' || value === 0 || value === false || same(value, [])
