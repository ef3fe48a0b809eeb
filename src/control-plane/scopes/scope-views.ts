/** Builds scopes as the API shows them, each with its scope config and the blueprints that collect it. */

import { readByKeys } from '../../database/pieces.ts'
import type { Settings } from '../../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { blueprintScopes, blueprints } from '../../system/projects.ts'
import type { ScopeView } from '../records.ts'
import type { ServiceContext } from '../services.ts'
import type { SettingsRow } from '../sources.ts'
import { publicScope, publicScopeConfig, scopeKey } from '../sources.ts'
import { publicRow, type Queries, selectRows } from '../store.ts'

export async function viewsOf(
  { database: { kysely }, secrets }: Pick<ServiceContext, 'database' | 'secrets'>,
  source: PluginSpec,
  rows: readonly SettingsRow[],
  withBlueprints: boolean,
): Promise<ScopeView[]> {
  const configIds = [...new Set(rows.map((row) => row.scope_config_id).filter(Boolean))]
  const configs = configIds.length
    ? await selectRows(kysely, settingsTables(source).scopeConfigs, (query) => query.where('id', 'in', configIds))
    : []
  const users = withBlueprints ? await blueprintsByScope(kysely, source, rows) : new Map<string, Settings[]>()
  return rows.map((row) => {
    const config = configs.find(({ id }) => id === row.scope_config_id)
    const using = users.get(String(row[scopeKey(source)]))
    return {
      scope: publicScope(source, row),
      ...(config && { scopeConfig: publicScopeConfig(source, config, secrets) }),
      ...(using && { blueprints: using }),
    }
  })
}

async function blueprintsByScope(
  kysely: Queries,
  source: PluginSpec,
  rows: readonly SettingsRow[],
): Promise<Map<string, Settings[]>> {
  const links = await readByKeys(
    rows.map((row) => String(row[scopeKey(source)])),
    (piece) =>
      selectRows(kysely, blueprintScopes, (query) =>
        query
          .where('plugin_name', '=', source.name)
          .where('connection_id', '=', Number(rows[0]?.connection_id))
          .where('scope_id', 'in', piece),
      ),
  )
  const ids = new Set(links.map(({ blueprint_id }) => blueprint_id))
  const found = await readByKeys(ids, (piece) =>
    selectRows(kysely, blueprints, (query) => query.where('id', 'in', piece)),
  )
  const byId = new Map(
    found.map((row) => {
      const { beforePlan: _before, afterPlan: _after, ...blueprint } = publicRow(blueprints, row)
      return [row.id, { ...blueprint, plan: null, connections: null, labels: null } as Settings]
    }),
  )
  const groups = Map.groupBy(links, ({ scope_id }) => scope_id)
  return new Map([...groups].map(([id, own]) => [id, own.flatMap((link) => byId.get(link.blueprint_id) ?? [])]))
}
