/** Lists the scopes of a connection for a page: there may be thousands, so it reads little of each. */

import { sql } from 'kysely'
import { contains } from '../../database/like.ts'
import { readByKeys } from '../../database/pieces.ts'
import { settingsTables } from '../../plugin-kit/task/settings-tables.ts'
import { blueprintScopes, blueprints } from '../../system/projects.ts'
import { collectorLatestState } from '../../system/state.ts'
import type { ServiceContext } from '../services.ts'
import { scopeKey, scopeTitle, sourceNamed, titleColumn } from '../sources.ts'
import type { Listed, Paged } from '../store.ts'
import { selectPage, selectRows } from '../store.ts'
import { scopeParams } from './scope-data.ts'

interface ListedScope {
  readonly id: string
  readonly name: string
  readonly scopeConfigId: number | null
  readonly scopeConfigName: string | null
  /** When any of its lists was last collected in full. */
  readonly collectedAt: Date | null
  /** Projects whose blueprints collect it. A blueprint without a project is listed by its own name. */
  readonly usedBy: readonly string[]
}

export async function listScopes(
  { database: { kysely }, plugins }: ServiceContext,
  plugin: string,
  connectionId: number,
  { searchTerm, ...page }: Paged & { readonly searchTerm?: string | undefined },
): Promise<Listed<ListedScope>> {
  const source = sourceNamed(plugins, plugin)
  const key = scopeKey(source)
  const { count, items } = await selectPage(
    kysely,
    source.scope.table,
    page,
    (query) => {
      const own = query.where('connection_id', '=', connectionId)
      return searchTerm ? own.where(contains(sql.ref(titleColumn(source)), searchTerm)) : own
    },
    [
      [titleColumn(source), 'asc'],
      [key, 'asc'],
    ],
  )
  const ids = items.map((row) => String(row[key]))
  const params = items.map((row) => scopeParams(source, connectionId, row))
  const [configs, collected, links] = await Promise.all([
    selectRows(kysely, settingsTables(source).scopeConfigs, (query) => query.where('connection_id', '=', connectionId)),
    readByKeys(params, (piece) =>
      kysely
        .selectFrom(collectorLatestState.name)
        .select(['raw_data_params', ({ fn }) => fn.max<Date>('latest_success_start').as('at')])
        .where('raw_data_params', 'in', piece)
        .groupBy('raw_data_params')
        .execute(),
    ),
    readByKeys(ids, (piece) =>
      kysely
        .selectFrom(blueprintScopes.name)
        .innerJoin(blueprints.name, `${blueprints.name}.id`, `${blueprintScopes.name}.blueprint_id`)
        .select(['scope_id', 'project_name', `${blueprints.name}.name as blueprint_name`])
        .where('plugin_name', '=', plugin)
        .where('connection_id', '=', connectionId)
        .where('scope_id', 'in', piece)
        .orderBy(`${blueprints.name}.id`)
        .execute(),
    ),
  ])
  const nameOf = new Map(configs.map(({ id, name }) => [Number(id), String(name)]))
  const collectedAt = new Map(collected.map(({ raw_data_params, at }) => [raw_data_params, at]))
  const users = Map.groupBy(links, ({ scope_id }) => scope_id)
  return {
    count,
    items: items.map((row, index) => {
      const config = Number(row.scope_config_id) || null
      return {
        id: ids[index] as string,
        name: scopeTitle(source, row),
        scopeConfigId: config,
        scopeConfigName: nameOf.get(config ?? 0) ?? null,
        collectedAt: collectedAt.get(params[index] ?? '') ?? null,
        usedBy: (users.get(ids[index] ?? '') ?? []).map((link) => link.project_name || link.blueprint_name),
      }
    }),
  }
}
