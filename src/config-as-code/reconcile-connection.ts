import type { ScopeConfig } from '../control-plane/records.ts'
import { type Connected, connectedNamed } from '../control-plane/sources.ts'
import { UserError } from '../errors.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { fieldsOfConnection } from './ask-sources.ts'
import { change } from './change.ts'
import type { Path } from './config-file.ts'
import type { Reconciling } from './context.ts'
import type { ConnectionConfig } from './document.ts'
import { droppedRules } from './dropped-rules.ts'
import { completed, standardOf, stateOf } from './field-values.ts'
import { requireKnown } from './known-fields.ts'
import { requireMatches } from './matching-rules.ts'
import type { ConnectionNames } from './portable-plans.ts'
import { requireHidden } from './variables.ts'

/** A connection that the file describes or refers to, after it was stored. */
export interface KnownConnection {
  readonly owner: Connected
  readonly id: number
  /** Ids of scope configs by name. */
  readonly scopeConfigs: ReadonlyMap<string, number>
}

export async function reconcileConnection(
  reconciling: Reconciling,
  path: Path,
  config: ConnectionConfig,
): Promise<KnownConnection> {
  const [, plugin = '', name = ''] = path.map(String)
  const { connections } = reconciling.services
  const owner = connectedNamed(reconciling.control.plugins, plugin)
  const { fields } = owner
  const values = { ...fieldsOfConnection(reconciling.config, owner, path, config), name }
  const stored = async () => (await connections.list(plugin)).find((each) => each.name === name)
  const found = await stored()
  await change(reconciling, {
    subject: `${plugin} connection ${name}`,
    async read() {
      const connection = await stored()
      return connection && stateOf(fields, await connections.reveal(plugin, connection.id))
    },
    write: () => (found ? connections.update(plugin, found.id, values) : connections.create(plugin, values)),
    standard: standardOf(fields),
    isSecret: (field) => fields[field]?.kind === 'secret',
  })
  const id = found?.id ?? (await stored())?.id ?? 0
  const scopeConfigs = await storedConfigs(reconciling, owner, id)
  for (const [configName, rules] of Object.entries(config.scopeConfigs)) {
    const place = [...path, 'scopeConfigs', configName]
    const configId = await reconciling.config.file.at(place, () =>
      reconcileScopeConfig(reconciling, place, { source: owner.source, connectionId: id }, rules),
    )
    scopeConfigs.set(configName, configId)
  }
  return { owner, id, scopeConfigs }
}

/** Returns a connection that the file refers to without describing it. That it exists was checked when sources were asked. */
export async function storedConnection(
  reconciling: Reconciling,
  reference: string,
  { ids }: ConnectionNames,
): Promise<KnownConnection> {
  const [plugin = ''] = reference.split('/', 1)
  const owner = connectedNamed(reconciling.control.plugins, plugin)
  const id = ids.get(reference)
  if (id === undefined) throw new UserError(`There is no connection ${reference}.`)
  return { owner, id, scopeConfigs: await storedConfigs(reconciling, owner, id) }
}

/** Returns the ids by name, because a file may refer to scope configs that it does not describe. */
async function storedConfigs({ services }: Reconciling, { name, source }: Connected, connectionId: number) {
  const stored = source ? await services.scopeConfigs.list(name, connectionId) : []
  return new Map(stored.map((each) => [each.name, each.id]))
}

async function reconcileScopeConfig(
  reconciling: Reconciling,
  path: Path,
  { source, connectionId }: { source: PluginSpec | undefined; connectionId: number },
  rules: Settings,
): Promise<number> {
  const [, plugin = '', connection = '', , name = ''] = path.map(String)
  if (!source) throw new UserError(`${plugin} has no scope configs. Leave them out.`)
  const { scopeConfigs } = reconciling.services
  const { fields } = source.scopeConfig
  const subject = `${plugin} scope config ${name}${amongOthers(reconciling, plugin, connection)}`
  requireKnown([...Object.keys(fields), 'entities'], rules)
  for (const [field, value] of Object.entries(rules)) {
    const secretName = fields[field]?.kind === 'secret' ? 'secret' : field
    requireHidden(reconciling.config.file, reconciling.config.templates, [...path, field], value, secretName)
  }
  const stored = async () => (await scopeConfigs.list(plugin, connectionId)).find((each) => each.name === name)
  const found = await stored()
  if (!reconciling.allowsEmpty) {
    await requireMatches(reconciling, source, connectionId, { before: found, rules })
  }
  const wanted = { ...completed(fields, rules), entities: rules.entities ?? [] }
  await change(reconciling, {
    subject,
    async read() {
      const config = await stored()
      return config && { entities: (config as ScopeConfig).entities, ...stateOf(fields, config) }
    },
    write: () =>
      found
        ? scopeConfigs.update(plugin, connectionId, found.id, wanted)
        : scopeConfigs.create(plugin, connectionId, { ...wanted, name }),
    standard: standardOf(fields),
    isSecret: (field) => fields[field]?.kind === 'secret',
    notes: (before, after) => droppedRules(source, before, after),
  })
  return found?.id ?? (await stored())?.id ?? 0
}

/** Names the connection if the file describes several of the plugin, or does not describe this one. */
export function amongOthers({ config: { document } }: Reconciling, plugin: string, connection: string): string {
  const described = Object.keys(document.connections[plugin] ?? {})
  return described.length === 1 && described[0] === connection ? '' : ` of ${connection}`
}
