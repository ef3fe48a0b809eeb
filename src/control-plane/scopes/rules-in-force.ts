/** Finds the rules that apply to the scopes of a project and where they are stored, and tries other rules on stored data. */
import type { Database } from '../../database/database.ts'
import { domainId } from '../../domain/ids.ts'
import type { Rules, RulesInForce } from '../../metrics/preview/preview-rules.ts'
import type { Settings } from '../../plugin-kit/spec/fields.ts'
import type { Plugin, PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { rulesOfScope } from '../../plugin-kit/task/assumed-rules.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { connectionsOfProject } from '../plan/assumptions.ts'
import { domainScopesOf, entitiesOf } from '../plan/domain-scopes.ts'
import { optionsOf, workerOf } from '../plan/make-plan.ts'
import { subtasksFor } from '../plan/select-subtasks.ts'
import type { ServiceContext } from '../services.ts'
import { type SettingsRow, scopeKey } from '../sources.ts'
import { findRow, selectRows } from '../store.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins'>

interface ScopeRules {
  readonly source: PluginSpec
  /** The plugin that runs its tasks. */
  readonly worker: Plugin
  readonly connection: SettingsRow
  readonly scope: SettingsRow
  /** The ids of its rows in the domain model. Not every source builds them from the key of the scope. */
  readonly ids: readonly string[]
  /** Its scope config; undefined when default rules apply. */
  readonly config: SettingsRow | undefined
  /** The rules of its scope config under their public names. */
  readonly stored: Settings | undefined
  readonly settings: Settings
  /** The entities to collect. Anything other than a list with entries means all of them. */
  readonly entities: unknown
}

export async function scopeRulesOf(context: Context, project: string): Promise<ScopeRules[]> {
  const { kysely } = context.database
  const found: ScopeRules[] = []
  for (const { pluginName, connectionId, scopes } of await connectionsOfProject(context, project)) {
    const plugin = context.plugins.find(({ name }) => name === pluginName)
    const source = plugin?.source
    if (!source) continue
    const { connections, scopeConfigs, settingsOf } = settingsTables(source)
    const connection = await findRow(kysely, connections, { id: connectionId })
    if (!connection) continue
    const worker = workerOf(context.plugins, plugin, source.plan?.plugin?.(settingsOf(connections, connection)))
    const key = scopeKey(source)
    const rows = await selectRows(kysely, source.scope.table, (query) =>
      query.where('connection_id', '=', connectionId),
    )
    const wanted = new Set(scopes.map(({ scopeId }) => String(scopeId)))
    const own = rows.filter((row) => wanted.has(String(row[key])))
    const ids = new Set([0, ...own.map((row) => Number(row.scope_config_id ?? 0))])
    const configs = await selectRows(kysely, scopeConfigs, (query) => query.where('id', 'in', [...ids]))
    for (const scope of own) {
      const config = configs.find((each) => Number(each.id) === Number(scope.scope_config_id))
      const stored = config && settingsOf(scopeConfigs, config)
      const rowIds = domainScopesOf(source, connectionId, scope, entitiesOf(null)).map(({ rowId }) => rowId)
      found.push({
        source,
        worker,
        connection,
        scope,
        config,
        stored,
        ids: [
          ...new Set([
            domainId(source.scope.table.idPrefix, connectionId, scope[key] as string | number) as string,
            ...rowIds,
          ]),
        ],
        settings: rulesOfScope(source, stored),
        entities: config?.entities,
      })
    }
  }
  return found
}

const rulesOf = ({ fields }: PluginSpec['scopeConfig'], settings: Settings) =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, settings[name] ?? null]))

/** The rules that apply now, and those that would apply with `tried`, by the id of the scope in the domain model. */
export const rulesInForce = (scopes: readonly ScopeRules[], tried: Rules): ReadonlyMap<string, RulesInForce> =>
  new Map(
    scopes.flatMap(({ source, ids, stored, settings }) => {
      const { scopeConfig } = source
      const after = rulesOfScope(source, stored, tried)
      const isAllProduction = scopeConfig.fields.productionPattern?.isAllWhenEmpty === true
      const inForce = { rules: rulesOf(scopeConfig, settings), after: rulesOf(scopeConfig, after), isAllProduction }
      return ids.map((id): [string, RulesInForce] => [id, inForce])
    }),
  )

/** Makes tool and domain rows again from collected data, as a run with these rules would. */
export async function transformWith(
  inside: Database,
  scopes: readonly ScopeRules[],
  { tried, types, signal }: { readonly tried: Rules; readonly types: readonly string[]; readonly signal: AbortSignal },
): Promise<void> {
  for (const { source, worker, scope, stored, entities } of scopes) {
    const names = new Set(subtasksFor(worker, entitiesOf(Array.isArray(entities) ? entities : null)))
    const options = { ...optionsOf(source, scope), scopeConfig: rulesOfScope(source, stored, tried) }
    for (const subtask of worker.subtasks) {
      const isOfKind = subtask.domainTypes.some((type) => types.includes(type))
      if (subtask.step === 'collect' || !names.has(subtask.name) || !isOfKind) continue
      await subtask.run({ database: inside, options, fullSync: false, signal, progress: () => {} })
    }
  }
}

interface RulePlace {
  readonly plugin: string
  readonly title: string
  readonly connectionId: number
  readonly connection: string
  /** Null when these scopes have no scope config, so that default rules apply. */
  readonly scopeConfigId: number | null
  readonly scopeConfig: string | null
  readonly scopes: number
  /** Names of the rules that can be set there. */
  readonly rules: readonly string[]
}

const groupedByConfig = (scopes: readonly ScopeRules[]) =>
  [
    ...Map.groupBy(scopes, ({ source, connection, config }) =>
      JSON.stringify([source.name, connection.id, config?.id ?? null]),
    ).values(),
  ] as [ScopeRules, ...ScopeRules[]][]

/** Lists the places where rules of a project are set: the scope configs of the scopes that its blueprint collects. */
export async function rulePlacesOf(context: Context, project: string): Promise<RulePlace[]> {
  return groupedByConfig(await scopeRulesOf(context, project)).flatMap((covered) => {
    const [{ source, connection, config }] = covered
    const rules = Object.keys(source.scopeConfig.fields)
    if (rules.length === 0) return []
    return {
      plugin: source.name,
      title: source.title,
      connectionId: Number(connection.id),
      connection: String(connection.name),
      scopeConfigId: config ? Number(config.id) : null,
      scopeConfig: config ? String(config.name) : null,
      scopes: covered.length,
      rules,
    }
  })
}

/** For each scope config of a project, returns all rules that it must contain so that the tried rules apply. */
export function rulesToSave(scopes: readonly ScopeRules[], tried: Rules) {
  return groupedByConfig(scopes).map(([{ source, connection, config, stored }]) => ({
    plugin: source.name,
    connectionId: Number(connection.id),
    scopeConfigId: config ? Number(config.id) : null,
    rules: Object.fromEntries(
      Object.entries(rulesOfScope(source, stored, tried)).filter(([, value]) => !EMPTY.includes(value)),
    ),
  }))
}
const EMPTY: readonly unknown[] = [undefined, null, '']
