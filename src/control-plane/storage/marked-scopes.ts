/** Finds scopes by the params that mark the rows collected for them. */
import type { Plugin } from '../../plugin-kit/spec/plugin.ts'
import { ownerNameOf } from '../../plugin-kit/task/family.ts'
import { scopeParams } from '../scopes/scope-data.ts'
import type { ServiceContext } from '../services.ts'
import { allConnected, scopeKey, scopeTitle } from '../sources.ts'
import { selectRows } from '../store.ts'

export interface MarkedScope {
  readonly plugin: string
  readonly connectionId: number
  readonly scopeId: string
  readonly scopeName: string
}

/** Finds the scope of a row by the plugin that wrote it and its params. */
type FindScope = (plugin: string, params: string) => MarkedScope | undefined

export async function markedScopes({ database, plugins }: ServiceContext): Promise<FindScope> {
  const byMark = new Map<string, MarkedScope>()
  for (const { source } of allConnected(plugins)) {
    if (!source) continue
    for (const row of await selectRows(database.kysely, source.scope.table)) {
      const connectionId = Number(row.connection_id)
      const scope = {
        plugin: source.name,
        connectionId,
        scopeId: String(row[scopeKey(source)]),
        scopeName: scopeTitle(source, row),
      }
      byMark.set(`${source.name} ${scopeParams(source, connectionId, row)}`, scope)
    }
  }
  return (plugin, params) => byMark.get(`${ownerNamed(plugins, plugin)} ${params}`)
}

/** Returns the plugin that owns the scopes. Another plugin may collect in its place, such as GraphQL instead of REST. */
function ownerNamed(plugins: readonly Plugin[], name: string): string {
  const plugin = plugins.find((each) => each.name === name)
  return plugin ? ownerNameOf(plugin) : name
}
