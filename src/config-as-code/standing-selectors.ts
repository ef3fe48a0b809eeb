/** Adds and removes single selectors of a blueprint. A new one has at once the effect that it later has before every run. */
import { type Actor, recordChange } from '../control-plane/audit/record.ts'
import { joined } from '../control-plane/blueprints/blueprint-rows.ts'
import type { Blueprint } from '../control-plane/records.ts'
import type { ServiceContext, Services } from '../control-plane/services.ts'
import { sourceNamed } from '../control-plane/sources.ts'
import type { Database } from '../database/database.ts'
import { retrying } from '../database/write.ts'
import { UserError } from '../errors.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { openAwaitedClient } from '../plugin-kit/task/connection.ts'
import { fingerprint } from '../secrets/secrets.ts'
import { type ChosenScope, choose } from './choose.ts'
import { type Catalogue, fitting, globOf, isPattern, openCatalogue } from './selectors.ts'
import { idOfScope, scopesOf } from './stored-scopes.ts'
import {
  type ConnectionSelectors,
  readSelectors,
  readSelectorsOf,
  type StoredSelector,
  saveSelectors,
} from './stored-selectors.ts'

interface NewSelector extends StoredSelector {
  readonly plugin: string
  readonly connectionId: number
}
export interface StandingSelector extends NewSelector {
  /** Made from the content of the selector. So it never means another selector, even if somebody changes the list meanwhile. */
  readonly id: string
}

export interface SelectorContext {
  readonly control: Pick<ServiceContext, 'database' | 'plugins'>
  readonly services: Services
  /** The same services within a transaction. They record who changes what. */
  servicesOn(database: Database): Services
  readonly actor: Actor
}

interface Asking {
  /** Whether the selector may choose nothing. */
  readonly allowsEmpty: boolean
  readonly signal: AbortSignal
}

interface AddedSelector {
  readonly selector: StandingSelector
  /** The scopes that the selector chooses now. */
  readonly chosen: readonly (ChosenScope & { readonly isNew: boolean })[]
}

const MOST_OF_A_CONNECTION = 100

export async function listSelectors(database: Database, blueprintId: number): Promise<StandingSelector[]> {
  return (await readSelectors(database, blueprintId)).flatMap(selectorsOf)
}

const selectorsOf = ({ plugin, connectionId, selectors }: ConnectionSelectors): StandingSelector[] =>
  selectors.map((each) => ({ id: markOf(plugin, connectionId, each), plugin, connectionId, ...each }))

/** Database engines return the fields of JSON in different orders. */
const inOrder = (scope: string | Settings) => (isPattern(scope) ? scope : Object.entries(scope).sort())
const markOf = (
  plugin: string,
  connectionId: number,
  { scopes, except, archived, topic, scopeConfigId }: StoredSelector,
) => fingerprint([plugin, connectionId, scopes.map(inOrder), except, archived, topic ?? null, scopeConfigId])

/** Asks the source first, so that nobody waits for it. The rest is done in one transaction, as in an apply. */
export async function addSelector(
  context: SelectorContext,
  blueprintId: number,
  { plugin, connectionId, ...selector }: NewSelector,
  asking: Asking,
): Promise<AddedSelector> {
  const { control, services } = context
  requireNormal(await services.blueprints.get(blueprintId))
  const source = sourceNamed(control.plugins, plugin)
  const chosen = await askSource(services, source, connectionId, selector, asking)
  return inOneChange(context, async (inside, own) => {
    const blueprint = await own.blueprints.get(blueprintId)
    requireNormal(blueprint)
    const { scopeConfigId } = selector
    if (scopeConfigId) await own.scopeConfigs.get(plugin, connectionId, scopeConfigId)
    await requireOneConfig(inside, own, { source, connectionId, scopeConfigId, chosen })
    await putScopes(own, source, connectionId, scopeConfigId, chosen)
    const link = { pluginName: plugin, connectionId, scopes: chosen.map(({ id }) => ({ scopeId: id })) }
    const there = new Set(linked(blueprint, plugin, connectionId))
    if (chosen.length > 0 && joined(blueprint.connections, [link])) {
      await own.blueprints.addScopes(blueprintId, async () => [link])
    }
    const added = await saveNew(inside, blueprint, { plugin, connectionId, ...selector })
    await record(context, inside, blueprintId, null, added)
    return { selector: added, chosen: chosen.map((each) => ({ ...each, isNew: !there.has(each.id) })) }
  })
}

/** Removes a selector. The scopes that it has added stay. */
export async function removeSelector(
  context: SelectorContext,
  blueprintId: number,
  id: string,
): Promise<StandingSelector[]> {
  return inOneChange(context, async (inside, own) => {
    const { name } = await own.blueprints.get(blueprintId)
    const all = await readSelectors(inside, blueprintId)
    const removed = all.flatMap(selectorsOf).find((each) => each.id === id)
    if (!removed) throw new UserError(`Blueprint ${name} has no such selector any more.`, { status: 404 })
    const left = all
      .map((each) => ({
        ...each,
        selectors: each.selectors.filter((one) => markOf(each.plugin, each.connectionId, one) !== id),
      }))
      .filter(({ selectors }) => selectors.length > 0)
    await saveSelectors(inside, blueprintId, left)
    await record(context, inside, blueprintId, removed, null)
    return left.flatMap(selectorsOf)
  })
}

/** Runs one change at a time, and never while a configuration file is applied. */
const inOneChange = <Result>(
  { control: { database }, servicesOn }: SelectorContext,
  body: (inside: Database, own: Services) => Promise<Result>,
): Promise<Result> =>
  database.locked('configuration', () =>
    retrying(database, () => database.transaction((inside) => body(inside, servicesOn(inside)))),
  )

function requireNormal({ name, mode }: Blueprint): void {
  if (mode === 'NORMAL') return
  throw new UserError(`Blueprint ${name} runs a plan of its own: it has no connections that a selector could add to.`)
}

async function askSource(
  services: Services,
  source: PluginSpec,
  connectionId: number,
  selector: StoredSelector,
  { allowsEmpty, signal }: Asking,
): Promise<ChosenScope[]> {
  const settings = await services.connections.reveal(source.name, connectionId)
  let opened: Catalogue | undefined
  const choosing = {
    source,
    allowsEmpty,
    insist: 'set allowEmpty',
    catalogue() {
      opened ??= openCatalogue(source, settings, signal, openAwaitedClient)
      return opened
    },
    stored: () => scopesOf(services, source.name, connectionId),
    at: async <Result>(_path: unknown, act: () => Result | Promise<Result>) => act(),
    refusal: (_path: unknown, message: string) =>
      new UserError(`${message.slice(0, 1).toUpperCase()}${message.slice(1)}`),
  }
  try {
    return await choose(choosing, selector)
  } finally {
    await opened?.close()
  }
}

interface Given {
  readonly source: PluginSpec
  readonly connectionId: number
  readonly scopeConfigId: number
  readonly chosen: readonly ChosenScope[]
}

/** Refuses a second scope config for a scope. A file with both could not be applied. */
async function requireOneConfig(
  inside: Database,
  services: Services,
  { source, connectionId, scopeConfigId, chosen }: Given,
): Promise<void> {
  if (!scopeConfigId) return
  for (const { blueprintId, selectors } of await readSelectorsOf(inside, source.name, connectionId)) {
    for (const other of selectors) {
      if (!other.scopeConfigId || other.scopeConfigId === scopeConfigId) continue
      const both = chosen.find(chosenBy(source, other))
      if (!both) continue
      const { name } = await services.blueprints.get(blueprintId)
      const config = await services.scopeConfigs.get(source.name, connectionId, other.scopeConfigId)
      throw new UserError(
        `${titleOf(both)} has the scope config ${config.name} by a selector of ${name}, and can have one: choose that, or leave it out with except.`,
        { status: 409 },
      )
    }
  }
}

const titleOf = ({ id, data }: ChosenScope) => String(data.fullName ?? data.name ?? id)

function chosenBy(source: PluginSpec, selector: StoredSelector): (scope: ChosenScope) => boolean {
  const globs = selector.scopes.filter(isPattern).map(globOf)
  const written = selector.scopes.filter((each) => !isPattern(each)) as Settings[]
  const ids = new Set(written.map((each) => idOfScope(source, each)))
  return ({ id, entry }) =>
    ids.has(id) ||
    (entry !== undefined && globs.some((glob) => glob.test(entry.fullName)) && fitting([entry], selector).length > 0)
}

async function putScopes(
  services: Services,
  source: PluginSpec,
  connectionId: number,
  scopeConfigId: number,
  chosen: readonly ChosenScope[],
): Promise<void> {
  const stored = await scopesOf(services, source.name, connectionId)
  const known = new Map(stored.map((scope) => [idOfScope(source, scope), scope]))
  const config = scopeConfigId ? { scopeConfigId } : {}
  const fresh = chosen.filter(({ id }) => !known.has(id)).map(({ data }) => ({ ...data, ...config }))
  if (fresh.length > 0) await services.scopes.put(source.name, connectionId, fresh)
  for (const { id, data, isWritten } of chosen) {
    const scope = known.get(id)
    if (!scope) continue
    const { scopeConfigId: _own, ...written } = data
    const wanted = { ...(isWritten && written), ...config }
    if (Object.entries(wanted).every(([name, value]) => scope[name] === value)) continue
    await services.scopes.update(source.name, connectionId, id, wanted)
  }
}

const linked = ({ connections }: Blueprint, plugin: string, connectionId: number): string[] =>
  connections
    .filter((each) => each.pluginName === plugin && each.connectionId === connectionId)
    .flatMap(({ scopes }) => scopes.map(({ scopeId }) => scopeId))

async function saveNew(
  inside: Database,
  { id: blueprintId, name }: Blueprint,
  { plugin, connectionId, ...selector }: NewSelector,
): Promise<StandingSelector> {
  const all = await readSelectors(inside, blueprintId)
  const isOwn = (each: Pick<NewSelector, 'plugin' | 'connectionId'>) =>
    each.plugin === plugin && each.connectionId === connectionId
  const own = all.find(isOwn)?.selectors ?? []
  if (own.length >= MOST_OF_A_CONNECTION) {
    throw new UserError(
      `Blueprint ${name} has ${own.length} selectors of this connection, the most that is allowed: join several patterns in one selector.`,
    )
  }
  const next = { plugin, connectionId, selectors: [...own, selector] }
  await saveSelectors(inside, blueprintId, [...all.filter((each) => !isOwn(each)), next])
  // Read again, because storing removes passwords from addresses.
  const marked = (await listSelectors(inside, blueprintId)).filter(isOwn)
  const added = marked.at(-1) as StandingSelector
  if (marked.slice(0, -1).some(({ id }) => id === added.id)) {
    throw new UserError(`Blueprint ${name} has this selector already.`, { status: 409 })
  }
  return added
}

const record = (
  { actor }: SelectorContext,
  { kysely }: Database,
  blueprintId: number,
  before: StandingSelector | null,
  after: StandingSelector | null,
) =>
  recordChange(kysely, actor, {
    action: after ? 'create' : 'delete',
    subject: 'selector',
    key: `${blueprintId}:${(after ?? before)?.id}`,
    before,
    after,
  })
