/** The rules that hold for the scopes of a project: those of their scope configs, or assumed ones. */
import { domainId } from '../domain/ids.ts'
import type { RulesInForce } from '../metrics/preview-rules.ts'
import type { Settings } from '../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../plugin-kit/spec/plugin.ts'
import { assumedRules } from '../plugin-kit/task/assumed-rules.ts'
import { settingsTables } from '../plugin-kit/task/settings-tables.ts'
import { connectionsOfProject } from './plan/assumptions.ts'
import type { ServiceContext } from './services.ts'
import { scopeKey } from './sources.ts'
import { selectRows } from './store.ts'

export interface ScopeRules {
  readonly source: PluginSpec
  /** Of its rows in the domain model. */
  readonly id: string
  readonly settings: Settings
  /** What is collected; unless it is a list with something in it, everything. */
  readonly entities: unknown
}

export async function scopeRulesOf(
  context: Pick<ServiceContext, 'database' | 'plugins'>,
  project: string,
): Promise<ScopeRules[]> {
  const { kysely } = context.database
  const found: ScopeRules[] = []
  for (const { pluginName, connectionId, scopes } of await connectionsOfProject(context, project)) {
    const source = context.plugins.find(({ name }) => name === pluginName)?.source
    if (!source) continue
    const key = scopeKey(source)
    const rows: Record<string, unknown>[] = await kysely
      .selectFrom(source.scope.table.name)
      .select([key, 'scope_config_id'])
      .where('connection_id', '=', connectionId)
      .execute()
    const wanted = new Set(scopes.map(({ scopeId }) => String(scopeId)))
    const own = rows.filter((row) => wanted.has(String(row[key])))
    const { scopeConfigs, settingsOf } = settingsTables(source)
    const ids = new Set([0, ...own.map((row) => Number(row.scope_config_id ?? 0))])
    const configs = await selectRows(kysely, scopeConfigs, (query) => query.where('id', 'in', [...ids]))
    for (const row of own) {
      const config = configs.find((each) => Number(each.id) === Number(row.scope_config_id))
      found.push({
        source,
        id: domainId(source.scope.table.idPrefix, connectionId, row[key] as string | number) as string,
        settings: config ? settingsOf(scopeConfigs, config) : assumedRules(source),
        entities: config?.entities,
      })
    }
  }
  return found
}

/** By the id of the scope in the domain model. */
export async function rulesInForce(
  context: Pick<ServiceContext, 'database' | 'plugins'>,
  project: string,
): Promise<ReadonlyMap<string, RulesInForce>> {
  const scopes = await scopeRulesOf(context, project)
  return new Map(
    scopes.map(({ source, id, settings }) => {
      const { fields } = source.scopeConfig
      const rules = Object.fromEntries(Object.keys(fields).map((name) => [name, settings[name] ?? null]))
      return [id, { rules, isAllProduction: fields.productionPattern?.isAllWhenEmpty === true }]
    }),
  )
}
