/** Asks sources everything that is needed before anything is changed: whether they accept the credentials, and what selectors choose. */
import { isDeepStrictEqual } from 'node:util'
import { hintOf } from '../basics/nearest.ts'
import { testConnection } from '../control-plane/connections/test-connection.ts'
import type { Services } from '../control-plane/services.ts'
import { type Connected, connectedNamed } from '../control-plane/sources.ts'
import { UserError } from '../errors.ts'
import { requireLogin } from '../plugin-kit/define/required-fields.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { Plugin, PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { rotates } from '../plugin-kit/task/rotating-tokens.ts'
import { type ChosenScope, choose } from './choose.ts'
import type { Path } from './config-file.ts'
import type { Config, ConnectionConfig, SelectorConfig } from './document.ts'
import { completed } from './field-values.ts'
import { requireKnown } from './known-fields.ts'
import { connectionNames } from './portable-plans.ts'
import { type Catalogue, isAbsent, openCatalogue } from './selectors.ts'
import { scopesOf } from './stored-scopes.ts'
import { requireHidden, unsetRefusal } from './variables.ts'

interface Asking {
  readonly services: Services
  readonly plugins: readonly Plugin[]
  /** Whether selectors may match nothing. */
  readonly allowsEmpty: boolean
  /** Tells whether an export names the secret at a place by this variable. */
  readonly isNamedBy: (path: Path, value: unknown, name: string) => boolean
  /** Set if the caller must not see the messages of servers. */
  readonly hidesReasons: boolean
}
/** The scopes that each selector chooses now. */
export type Chosen = ReadonlyMap<SelectorConfig, readonly ChosenScope[]>

/** A connection as it will be after the change. */
interface Wanted {
  readonly owner: Connected
  /** Undefined if the connection will be created. */
  readonly id: number | undefined
  readonly settings: Settings
  /** True if it differs from what is stored. */
  readonly isChanged: boolean
  catalogue?: Catalogue
}
interface Placed {
  readonly path: Path
  readonly selector: SelectorConfig
}

const PATIENCE_MS = 60_000

/** Refuses first whatever can be refused without a request, so that no source receives a secret for nothing. */
export async function askSources(config: Config, asking: Asking): Promise<Chosen> {
  const { file, document } = config
  const wanted = new Map<string, Wanted>()
  for (const [plugin, byName] of Object.entries(document.connections)) {
    for (const [name, settings] of Object.entries(byName)) {
      const path = ['connections', plugin, name]
      wanted.set(`${plugin}/${name}`, await file.at(path, () => wantedConnection(path, settings)))
    }
  }
  const selectors = Object.entries(document.projects).flatMap(([project, { collect }]) =>
    collect.map((selector, index): Placed => ({ path: ['projects', project, 'collect', index], selector })),
  )
  const { ids } = await connectionNames(asking.plugins, asking.services)
  for (const { selector } of selectors) {
    const { connection } = selector
    const id = wanted.has(connection) ? undefined : ids.get(connection)
    if (id !== undefined) wanted.set(connection, await storedConnection(connection, id))
  }
  for (const each of selectors) requirePossible(each)
  for (const [reference, { owner, settings, id, isChanged }] of wanted) {
    const [plugin = ''] = reference.split('/', 1)
    const path = ['connections', plugin, reference.slice(plugin.length + 1)]
    if (owner.source && isChanged) await file.at(path, () => requireAnswer(owner.source!, settings, id !== undefined))
  }
  const chosen = new Map<SelectorConfig, readonly ChosenScope[]>()
  try {
    for (const each of selectors) chosen.set(each.selector, await file.at(each.path, () => chosenBy(each)))
  } finally {
    for (const { catalogue } of wanted.values()) await catalogue?.close()
  }
  return chosen

  async function wantedConnection(path: Path, settings: ConnectionConfig): Promise<Wanted> {
    const [, plugin = '', name = ''] = path.map(String)
    const owner = connectedNamed(asking.plugins, plugin)
    const values = fieldsOfConnection(config, owner, path, settings)
    const { connections } = asking.services
    const stored = (await connections.list(plugin)).find((each) => each.name === name)
    const before = stored && (await connections.reveal(plugin, stored.id))
    requireStored(path, owner, before)
    const after = stored ? await connections.reveal(plugin, stored.id, values) : connections.check(plugin, values)
    requireLogin(owner.fields, after)
    const isChanged = !before || !isDeepStrictEqual({ ...before }, { ...after })
    return { owner, id: stored?.id, settings: isChanged ? { ...after, name } : before, isChanged }
  }

  /**
   * An unset variable may mean a secret that the server already has. Its name must be the one that an export uses, so that typing
   * errors are found.
   */
  function requireStored(path: Path, { fields }: Connected, before: Settings | undefined): void {
    for (const { path: place, name } of config.unset) {
      if (path.some((part, index) => place[index] !== part)) continue
      const field = String(place.at(-1))
      const value = fields[field]?.kind === 'secret' ? before?.[field] : undefined
      if (!value || !asking.isNamedBy(place, value, name)) throw unsetRefusal(file, place, name)
    }
  }

  /** Returns a stored connection that the file refers to without describing it. */
  async function storedConnection(reference: string, id: number): Promise<Wanted> {
    const [plugin = ''] = reference.split('/', 1)
    const owner = connectedNamed(asking.plugins, plugin)
    const settings = owner.source ? await asking.services.connections.reveal(plugin, id) : {}
    return { owner, id, settings, isChanged: false }
  }

  function requirePossible({ path, selector: { connection: reference, scopes } }: Placed): void {
    const connection = wanted.get(reference)
    if (!connection) {
      const hint = hintOf(reference, new Set([...wanted.keys(), ...ids.keys()]))
      const message = `${reference} is not among the connections of this file, and not stored${hint}`
      throw file.refusal([...path, 'connection'], message)
    }
    if (!connection.owner.source && scopes.length > 0) {
      throw file.refusal([...path, 'scopes'], `${reference} has no scopes: all its data is used. Leave scopes out.`)
    }
    if (connection.owner.source && scopes.length === 0 && !asking.allowsEmpty) {
      throw file.refusal([...path, 'scopes'], `${reference} needs scopes: name some, or use --allow-empty.`)
    }
  }

  async function reached<Result>(source: PluginSpec, ask: () => Promise<Result>): Promise<Result> {
    try {
      return await ask()
    } catch (error) {
      throw asking.hidesReasons && !isAbsent(error) ? unexplained(source) : error
    }
  }

  async function requireAnswer(source: PluginSpec, settings: Settings, isSaved: boolean): Promise<void> {
    // A test would use up the refresh token, which is valid for only one use.
    if (rotates(source, settings)) return
    const signal = AbortSignal.timeout(PATIENCE_MS)
    const { success, message } = await testConnection(source, settings, asking.services.connections, {
      isSaved,
      signal,
    })
    if (!success) throw new UserError(`${source.title} does not accept these settings: ${message}`)
  }

  async function chosenBy({ path, selector }: Placed): Promise<readonly ChosenScope[]> {
    const connection = wanted.get(selector.connection) as Wanted
    const { source } = connection.owner
    if (!source) return []
    const choosing = {
      source,
      allowsEmpty: asking.allowsEmpty,
      insist: 'use --allow-empty',
      catalogue: () => catalogueOf(connection, source),
      stored: async () => (connection.id ? await scopesOf(asking.services, source.name, connection.id) : []),
      at: <Result>(place: Path, act: () => Result | Promise<Result>) => file.at([...path, ...place], act),
      refusal: (place: Path, message: string) => file.refusal([...path, ...place], message),
    }
    return choose(choosing, selector)
  }

  function catalogueOf(connection: Wanted, source: PluginSpec): Catalogue {
    // No rate limit, because somebody is waiting, and these are only a few requests.
    connection.catalogue ??= openCatalogue(source, { ...connection.settings, id: undefined, rateLimitPerHour: 0 })
    const { catalogue } = connection
    return { ...catalogue, matching: (pattern) => reached(source, () => catalogue.matching(pattern)) }
  }
}

const unexplained = ({ title }: PluginSpec) =>
  new UserError(
    `${title} could not be asked. The reason is hidden (WRAP_RESPONSE_ERROR). To see it, run npx weir config plan weir.yaml.`,
  )

/** Returns the fields of a connection as the file wants them. Missing fields get their defaults, except secrets, which keep their value. */
export function fieldsOfConnection(
  { file, templates }: Config,
  { fields }: Connected,
  path: Path,
  { scopeConfigs: _configs, ...values }: ConnectionConfig,
): Settings {
  const asked = Object.keys(fields).filter((name) => !fields[name]?.isManaged)
  requireKnown(asked, values)
  for (const [name, value] of Object.entries(values)) {
    requireHidden(file, templates, [...path, name], value, fields[name]?.kind === 'secret' ? 'secret' : name)
  }
  return completed(fields, values)
}
