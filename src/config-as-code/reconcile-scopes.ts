import type { Scope } from '../control-plane/records.ts'
import { hintOf } from '../nearest.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'

import { change } from './change.ts'
import type { ChosenScope } from './choose.ts'
import type { Path } from './config-file.ts'
import type { Reconciling } from './context.ts'
import type { ProjectConfig, SelectorConfig } from './document.ts'
import { amongOthers, type KnownConnection } from './reconcile-connection.ts'
import { idOfScope, scopesOf } from './stored-scopes.ts'
import type { StoredSelector } from './stored-selectors.ts'

/** What a project collects of one connection. */
export interface Collected {
  /** `plugin/name`. */
  readonly reference: string
  readonly connection: KnownConnection
  readonly scopeIds: readonly string[]
  readonly selectors: readonly StoredSelector[]
}

/** Puts the scopes that the selectors choose now, each with its scope config. */
export async function reconcileScopes(
  reconciling: Reconciling,
  path: Path,
  { collect }: ProjectConfig,
  connections: ReadonlyMap<string, KnownConnection>,
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
    for (const selector of selectors) {
      const place = places.get(selector) as Path
      const configId = scopeConfigId(reconciling, place, connection, selector)
      rules.push({ ...rulesOf(selector), scopeConfigId: configId ?? 0 })
      const chosen = reconciling.chosen.get(selector) ?? []
      for (const { id } of chosen) ids.add(id)
      await reconciling.config.file.at(place, () =>
        putScopes(reconciling, { source, connectionId: connection.id, configId, configs, known, selector }, chosen),
      )
    }
    collected.push({ reference, connection, scopeIds: [...ids].sort(), selectors: rules })
  }
  return collected
}

interface Place {
  readonly source: PluginSpec
  readonly connectionId: number
  readonly configId: number | undefined
  readonly configs: KnownConnection['scopeConfigs']
  readonly known: Map<string, Scope>
  readonly selector: SelectorConfig
}

async function putScopes(reconciling: Reconciling, place: Place, chosen: readonly ChosenScope[]): Promise<void> {
  const { services, changes } = reconciling
  const { source, connectionId, configId, configs, known, selector } = place
  const connection = selector.connection.slice(source.name.length + 1)
  const subjectOf = ({ id, data }: ChosenScope) =>
    `${source.name} scope ${String(data.fullName ?? data.name ?? id)}${amongOthers(reconciling, source.name, connection)}`
  const nameOfConfig = (id: unknown) => [...configs].find(([, each]) => each === id)?.[0] ?? null
  const withConfig = (data: Settings) => ({ ...data, ...(configId && { scopeConfigId: configId }) })
  const fresh = chosen.filter(({ id }) => !known.has(id))
  if (fresh.length > 0) {
    const saved = await services.scopes.put(
      source.name,
      connectionId,
      fresh.map(({ data }) => withConfig(data)),
    )
    for (const [index, { id }] of fresh.entries()) known.set(id, saved[index] as Scope)
    const fields = selector.scopeConfig ? [{ name: 'scopeConfig', before: null, after: selector.scopeConfig }] : []
    for (const each of fresh) changes.push({ action: 'create', subject: subjectOf(each), fields })
  }
  const freshIds = new Set(fresh.map(({ id }) => id))
  for (const each of chosen) {
    if (freshIds.has(each.id)) continue
    const { scopeConfigId: _own, ...data } = each.data
    const wanted = { ...(each.isWritten && data), ...(configId && { scopeConfigId: configId }) }
    const scope = known.get(each.id) as Scope
    if (Object.entries(wanted).every(([name, value]) => scope[name] === value)) continue
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
    })
  }
}

/** Refuses two scope configs for one scope: each apply would give it one, then the other. */
export function requireOneConfigEach({ config: { file, document }, chosen }: Reconciling): void {
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
    `${scopeConfig} is not among the scope configs of ${connection} in this file${hint}`,
  )
}
