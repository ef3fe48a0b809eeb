import { hintOf } from '../basics/nearest.ts'
import type { Scope } from '../control-plane/records.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'

import { assumedFor } from './assumed.ts'
import { change, isEmpty, isSame } from './change.ts'
import type { ChosenScope } from './choose.ts'
import type { Path } from './config-file.ts'
import type { Reconciling } from './context.ts'
import type { ProjectConfig, SelectorConfig } from './document.ts'
import { amongOthers, type KnownConnection } from './reconcile-connection.ts'
import { idOfScope, projectsOfScope, scopesOf } from './stored-scopes.ts'
import { namedBy, readSelectorsOf, type StoredSelector } from './stored-selectors.ts'

/** The scopes that a project collects from one connection. */
export interface Collected {
  /** `plugin/name`. */
  readonly reference: string
  readonly connection: KnownConnection
  readonly scopeIds: readonly string[]
  readonly selectors: readonly StoredSelector[]
}

/** The name of the scope config that the file gives a scope, by `connection id` of the scope. */
export type GivenConfigs = ReadonlyMap<string, string>

/** Stores the scopes that the selectors choose now, each with its scope config. */
export async function reconcileScopes(
  reconciling: Reconciling,
  path: Path,
  { collect }: ProjectConfig,
  { connections, given }: { connections: ReadonlyMap<string, KnownConnection>; given: GivenConfigs },
): Promise<Collected[]> {
  const places = new Map(collect.map((selector, index) => [selector, [...path, 'collect', index]]))
  const collected: Collected[] = []
  for (const [reference, selectors] of Map.groupBy(collect, ({ connection }) => connection)) {
    const connection = connections.get(reference) as KnownConnection
    const { source } = connection.owner
    const configs = connection.scopeConfigs
    if (!source) {
      collected.push({ reference, connection, scopeIds: [], selectors: [] })
      continue
    }
    const stored = await scopesOf(reconciling.services, source.name, connection.id)
    const known = new Map(stored.map((scope) => [idOfScope(source, scope), scope]))
    const rules: StoredSelector[] = []
    const ids = new Set<string>()
    const isGivenElsewhere = await configsElsewhere(reconciling, source, connection.id)
    const configOf = (id: string) => configs.get(given.get(`${reference} ${id}`) ?? '') ?? 0
    for (const selector of selectors) {
      const place = places.get(selector) as Path
      const configId = scopeConfigId(reconciling, place, connection, selector)
      rules.push({ ...rulesOf(selector), scopeConfigId: configId ?? 0 })
      const chosen = reconciling.chosen.get(selector) ?? []
      for (const { id } of chosen) ids.add(id)
      const isBare = ({ id }: ChosenScope) => {
        const scope = known.get(id)
        return configOf(id) === 0 && !(scope && isGivenElsewhere(scope))
      }
      const assumed = assumedFor(source, String(path.at(-1)), selector, chosen, chosen.filter(isBare))
      if (assumed && configId === undefined) reconciling.assumptions.push(assumed)
      await reconciling.config.file.at(place, () =>
        putScopes(
          reconciling,
          { source, connectionId: connection.id, configOf, isGivenElsewhere, known, selector },
          chosen,
        ),
      )
    }
    collected.push({ reference, connection, scopeIds: [...ids].sort(), selectors: rules })
  }
  return collected
}

interface Place {
  readonly source: PluginSpec
  readonly connectionId: number
  /** The scope config that the file gives a scope. 0: none. */
  readonly configOf: (id: string) => number
  readonly isGivenElsewhere: (scope: Scope) => boolean
  readonly known: Map<string, Scope>
  readonly selector: SelectorConfig
}

async function putScopes(reconciling: Reconciling, place: Place, chosen: readonly ChosenScope[]): Promise<void> {
  const { services, changes } = reconciling
  const { source, connectionId, configOf, isGivenElsewhere, known, selector } = place
  const connection = selector.connection.slice(source.name.length + 1)
  const subjectOf = ({ id, data }: ChosenScope) =>
    `${source.name} scope ${String(data.fullName ?? data.name ?? id)}${amongOthers(reconciling, source.name, connection)}`
  const stored = await services.scopeConfigs.list(source.name, connectionId)
  const nameOfConfig = (id: unknown) => stored.find((each) => each.id === id)?.name ?? null
  const withConfig = ({ id, data }: ChosenScope) => ({ ...data, ...(configOf(id) && { scopeConfigId: configOf(id) }) })
  const fresh = chosen.filter(({ id }) => !known.has(id))
  if (fresh.length > 0) {
    const saved = await services.scopes.put(source.name, connectionId, fresh.map(withConfig))
    for (const [index, each] of fresh.entries()) {
      known.set(each.id, saved[index] as Scope)
      const config = nameOfConfig(configOf(each.id))
      const fields = config ? [{ name: 'scopeConfig', before: null, after: config }] : []
      changes.push({ action: 'create', subject: subjectOf(each), fields })
    }
  }
  const freshIds = new Set(fresh.map(({ id }) => id))
  for (const each of chosen) {
    if (freshIds.has(each.id)) continue
    const { scopeConfigId: _own, ...data } = each.data
    const scope = known.get(each.id) as Scope
    const configId = configOf(each.id)
    const isKept = configId === 0 && isGivenElsewhere(scope)
    const wanted = { ...(each.isWritten && data), ...(!isKept && { scopeConfigId: configId }) }
    const storedValue = (name: string) => (name === 'scopeConfigId' ? (scope[name] ?? 0) : scope[name])
    if (Object.entries(wanted).every(([name, value]) => storedValue(name) === value)) continue
    const names = Object.keys(wanted)
    await change(reconciling, {
      subject: subjectOf(each),
      async read() {
        const now = (await services.scopes.get(source.name, connectionId, each.id)).scope
        return Object.fromEntries(names.map((name) => [name, now[name]]))
      },
      write: () => services.scopes.update(source.name, connectionId, each.id, wanted),
      show: (field) =>
        field.name === 'scopeConfigId'
          ? { name: 'scopeConfig', before: nameOfConfig(field.before), after: nameOfConfig(field.after) }
          : field,
      async notes(before, after) {
        if (isSame(before?.scopeConfigId || 0, after.scopeConfigId || 0)) return []
        const sharing = await othersWith(reconciling, { plugin: source.name, connectionId, scopeId: each.id })
        return [
          ...(isEmpty(after.scopeConfigId) ? ['goes by the default rules from now on'] : []),
          ...(sharing.length > 0 ? [`changes the rules of this scope in ${LIST.format(sharing)}, too`] : []),
        ]
      },
    })
  }
}

/** Returns projects outside the file that share a scope with it. Changes affect them, because a scope has only one set of rules. */
async function othersWith(
  { config: { document }, database }: Reconciling,
  scope: Parameters<typeof projectsOfScope>[1],
): Promise<string[]> {
  const names = await projectsOfScope(database, scope)
  return names.filter((name) => !Object.hasOwn(document.projects, name)).map((name) => `project ${name}`)
}
/** `a, b and c` */
const LIST = new Intl.ListFormat('en-GB')

/** Tells whether a project outside the file gives the scope its scope config. Then the file must not remove it. */
async function configsElsewhere(
  { config: { document }, database, services }: Reconciling,
  source: PluginSpec,
  connectionId: number,
): Promise<(scope: Scope) => boolean> {
  const giving: ((scope: Scope) => boolean)[] = []
  for (const { blueprintId, selectors } of await readSelectorsOf(database, source.name, connectionId)) {
    const own = selectors.filter(({ scopeConfigId }) => scopeConfigId)
    if (own.length === 0) continue
    const { projectName } = await services.blueprints.get(blueprintId)
    if (Object.hasOwn(document.projects, projectName)) continue
    for (const selector of own) {
      const isNamed = namedBy(source, selector)
      giving.push((scope) => scope.scopeConfigId === selector.scopeConfigId && isNamed(scope))
    }
  }
  return (scope) => giving.some((gives) => gives(scope))
}

/** Finds the scope config of each scope. Two for one scope are refused, because each apply would switch between them. */
export function configsGiven({ config: { file, document }, chosen }: Reconciling): GivenConfigs {
  const configByScope = new Map<string, string>()
  for (const [project, { collect }] of Object.entries(document.projects)) {
    for (const [index, selector] of collect.entries()) {
      const { connection, scopeConfig } = selector
      if (scopeConfig === undefined) continue
      for (const { id, data } of chosen.get(selector) ?? []) {
        const other: string = configByScope.get(`${connection} ${id}`) ?? scopeConfig
        configByScope.set(`${connection} ${id}`, other)
        if (other === scopeConfig) continue
        throw file.refusal(
          ['projects', project, 'collect', index, 'scopeConfig'],
          `${data.fullName ?? data.name ?? id} of ${connection} has the scope config ${scopeConfig} here and ${other} elsewhere in this file: it can have one.`,
        )
      }
    }
  }
  return configByScope
}

const rulesOf = ({ scopes, except, archived, topic }: SelectorConfig) => ({
  scopes,
  except,
  archived,
  ...(topic !== undefined && { topic }),
})

function scopeConfigId(
  { config: { file } }: Reconciling,
  path: Path,
  { scopeConfigs }: KnownConnection,
  { scopeConfig, connection }: SelectorConfig,
): number | undefined {
  if (scopeConfig === undefined) return undefined
  const id = scopeConfigs.get(scopeConfig)
  if (id !== undefined) return id
  const hint = hintOf(scopeConfig, scopeConfigs.keys())
  throw file.refusal(
    [...path, 'scopeConfig'],
    `${scopeConfig} is not among the scope configs of ${connection}, in this file or stored${hint}`,
  )
}
