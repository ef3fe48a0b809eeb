/** Where the rules of a project are: the scope configs of what its blueprint collects. */
import { settingsTables } from '../plugin-kit/task/settings-tables.ts'
import { connectionsOfProject } from './plan/assumptions.ts'
import type { ServiceContext } from './services.ts'
import { scopeKey } from './sources.ts'
import { findRow, selectRows } from './store.ts'

export interface RulePlace {
  readonly plugin: string
  readonly title: string
  readonly connectionId: number
  readonly connection: string
  /** Null: these scopes have none, and assumed rules hold. */
  readonly scopeConfigId: number | null
  readonly scopeConfig: string | null
  readonly scopes: number
  /** Names of the rules that can be set there. */
  readonly rules: readonly string[]
}

export async function rulePlacesOf(
  context: Pick<ServiceContext, 'database' | 'plugins'>,
  project: string,
): Promise<RulePlace[]> {
  const { kysely } = context.database
  const places: RulePlace[] = []
  for (const { pluginName, connectionId, scopes } of await connectionsOfProject(context, project)) {
    const source = context.plugins.find(({ name }) => name === pluginName)?.source
    const rules = Object.keys(source?.scopeConfig.fields ?? {})
    if (!source || rules.length === 0) continue
    const { connections, scopeConfigs } = settingsTables(source)
    const connection = await findRow(kysely, connections, { id: connectionId })
    const key = scopeKey(source)
    const rows: Record<string, unknown>[] = await kysely
      .selectFrom(source.scope.table.name)
      .select([key, 'scope_config_id'])
      .where('connection_id', '=', connectionId)
      .execute()
    const own = new Set(scopes.map(({ scopeId }) => String(scopeId)))
    const collected = rows.filter((row) => own.has(String(row[key])))
    const byConfig = Map.groupBy(collected, ({ scope_config_id }) => Number(scope_config_id ?? 0))
    const configs = await selectRows(kysely, scopeConfigs, (query) => query.where('id', 'in', [...byConfig.keys(), 0]))
    for (const [id, covered] of byConfig) {
      const config = configs.find((each) => Number(each.id) === id)
      places.push({
        plugin: source.name,
        title: source.title,
        connectionId,
        connection: String(connection?.name ?? connectionId),
        scopeConfigId: config ? id : null,
        scopeConfig: config ? String(config.name) : null,
        scopes: covered.length,
        rules,
      })
    }
  }
  return places
}
