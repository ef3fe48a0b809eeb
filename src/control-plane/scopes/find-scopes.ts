/** Searches scopes of all connections by name, and the connections that have no scopes. */

import { sql } from 'kysely'
import { contains } from '../../database/like.ts'
import type { ServiceContext } from '../services.ts'
import type { SettingsRow } from '../sources.ts'
import { allConnected, scopeKey, scopeTitle, titleColumn } from '../sources.ts'
import { selectRows } from '../store.ts'

interface FoundScope {
  readonly plugin: string
  readonly pluginTitle: string
  readonly connectionId: number
  readonly connectionName: string
  /** Null for a connection that has no scopes. */
  readonly scopeId: string | null
  readonly scopeName: string
}

interface ScopeFilter {
  readonly keyword?: string | undefined
  readonly plugin?: string | undefined
  readonly connectionId?: number | undefined
  readonly scopeId?: string | undefined
}

const MOST = 50

export async function findScopes(
  { database: { kysely }, plugins }: Pick<ServiceContext, 'database' | 'plugins'>,
  { keyword = '', plugin, connectionId: wantedConnection, scopeId }: ScopeFilter,
): Promise<FoundScope[]> {
  const wanted = keyword.trim().toLowerCase()
  const found: FoundScope[] = []
  for (const { name, table, source, pushSource } of allConnected(plugins)) {
    if (plugin !== undefined && name !== plugin) continue
    const title = source?.title ?? pushSource?.title ?? name
    const connections = await selectRows(kysely, table, (query) =>
      wantedConnection === undefined ? query.orderBy('id') : query.where('id', '=', wantedConnection),
    )
    if (!source) {
      for (const row of connections) {
        const connectionName = String(row.name)
        if (!connectionName.toLowerCase().includes(wanted)) continue
        const place = { plugin: name, pluginTitle: title, connectionId: Number(row.id), connectionName, scopeId: null }
        found.push({ ...place, scopeName: connectionName })
      }
      continue
    }
    const names = new Map(connections.map((row) => [Number(row.id), String(row.name)]))
    const isWanted = (row: SettingsRow) => scopeId === undefined || String(row[scopeKey(source)]) === scopeId
    const rows = await selectRows(kysely, source.scope.table, (query) =>
      (wantedConnection === undefined ? query : query.where('connection_id', '=', wantedConnection))
        .where(contains(sql.ref(titleColumn(source)), wanted))
        .orderBy(titleColumn(source))
        .orderBy('connection_id')
        .$if(scopeId === undefined, (all) => all.limit(MOST)),
    )
    for (const row of rows.filter(isWanted)) {
      const connectionId = Number(row.connection_id)
      found.push({
        plugin: name,
        pluginTitle: title,
        connectionId,
        connectionName: names.get(connectionId) ?? '',
        scopeId: String(row[scopeKey(source)]),
        scopeName: scopeTitle(source, row),
      })
    }
  }
  return found.slice(0, MOST)
}
