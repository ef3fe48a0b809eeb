/** Makes stored configuration say what a file says, or tells what that would change: one walk does both. */

import type { Database } from '../database/database.ts'
import { UserError } from '../errors.ts'
import { hintOf, shortName } from '../nearest.ts'
import type { Settings } from '../pipelines/records.ts'
import type { Services } from '../pipelines/services.ts'
import { checkSettings } from '../pipelines/settings.ts'
import { type Connected, connectedNamed } from '../pipelines/sources.ts'
import type { Field, Fields } from '../plugin-kit/plugin.ts'
import type { Plugin } from '../plugin-kit/subtask.ts'
import { maskSecrets } from '../secrets.ts'
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
  readonly owner: Connected
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
    const owner = connectedNamed(context.plugins, plugin)
    for (const [name, config] of Object.entries(byName)) {
      connections.set(`${plugin}/${name}`, await reconcileConnection(owner, name, config, context, report))
    }
  }
  for (const [name, project] of Object.entries(document.projects)) {
    await reconcileProject(name, project, connections, context, report)
  }
  return changes
}

async function reconcileConnection(
  owner: Connected,
  name: string,
  config: ConnectionConfig,
  { services, environment, isDryRun }: ReconcileContext,
  report: Report,
): Promise<KnownConnection> {
  const { name: plugin, fields } = owner
  const where = `${plugin} connection ${name}`
  const { scopeConfigs, ...sent } = config
  requireKnown(where, fields, sent)
  const wanted = resolveEnvironment(where, sent, (field) => fields[field]?.kind === 'secret', environment)
  const found = (await services.connections.list(plugin)).find((each) => each.name === name)
  const stored = found && (await services.connections.reveal(plugin, found.id))
  const settings = checkSettings(fields, wanted, stored)
  const changed = differences(fields, stored, settings)
  let id = found?.id
  if (!found || changed.length > 0) {
    report({ action: found ? 'update' : 'create', subject: where, fields: changed })
    if (!isDryRun) {
      const sending = { ...wanted, name }
      const saved = found
        ? await services.connections.update(plugin, found.id, sending)
        : await services.connections.create(plugin, sending)
      id = saved.id
    }
  }
  const configs = new Map<string, number | undefined>()
  for (const [configName, rules] of Object.entries(scopeConfigs)) {
    configs.set(configName, await reconcileScopeConfig(id, configName, rules))
  }
  // As a stored connection it also knows where its tokens are kept.
  const isAsStored = !isDryRun || changed.length === 0
  const known = id && isAsStored ? await services.connections.reveal(plugin, id) : settings
  return { owner, id, settings: { ...known, name, ...(id && { id }) }, scopeConfigs: configs }

  async function reconcileScopeConfig(connectionId: number | undefined, configName: string, rules: Settings) {
    const subject = `${plugin} scope config ${configName}`
    if (!owner.source) throw new UserError(`${subject}: ${plugin} has no scope configs. Leave it out.`)
    const ruleFields = owner.source.scopeConfig.fields
    const described = { ...ruleFields, entities: ENTITIES }
    requireKnown(subject, described, rules)
    const existing = connectionId ? await services.scopeConfigs.list(plugin, connectionId) : []
    const before = existing.find((each) => each.name === configName)
    const after = { entities: [], ...before, ...checkSettings(ruleFields, rules, before), ...rules }
    const differing = differences(described, before, after)
    if (before && differing.length === 0) return before.id
    report({ action: before ? 'update' : 'create', subject, fields: differing })
    if (isDryRun || !connectionId) return before?.id
    const saved = before
      ? await services.scopeConfigs.update(plugin, connectionId, before.id, rules)
      : await services.scopeConfigs.create(plugin, connectionId, { ...rules, name: configName })
    return saved.id
  }
}

const ENTITIES: Field = { kind: 'strings', label: 'Entities' }

function requireKnown(where: string, fields: Fields, sent: Settings): void {
  const unknown = Object.keys(sent).find((name) => !(name in fields))
  if (unknown)
    throw new UserError(`${where}: ${shortName(unknown)} is not known${hintOf(unknown, Object.keys(fields))}`)
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
      const shown = (value: unknown) => (kind === 'secret' && value ? HIDDEN : maskSecrets(value ?? null))
      return { name, before: before ? shown(before[name]) : null, after: shown(after[name]) }
    })
}
const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === '' || value === 0 || value === false || same(value, [])
