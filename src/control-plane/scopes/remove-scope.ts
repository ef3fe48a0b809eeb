import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { forgetScope } from '../../plugin-kit/task/forget-scope.ts'
import { NOBODY, recordChange } from '../audit/record.ts'
import { requireNothingRuns, requireUnused } from '../guards.ts'
import { domainScopesOf, entitiesOf } from '../plan/domain-scopes.ts'
import type { Scope } from '../records.ts'
import type { ServiceContext } from '../services.ts'
import type { SettingsRow } from '../sources.ts'
import { publicScope, scopeKey, scopeTitle } from '../sources.ts'
import { deleteRows, type Queries } from '../store.ts'
import { deleteScopeData, scopeParams } from './scope-data.ts'

/** Runs `body` while no task works on the scope; throws when one does. */
export type DeleteAlone = (
  source: PluginSpec,
  connectionId: number,
  scope: SettingsRow,
  body: () => Promise<void>,
) => Promise<void>

export interface StoredScope {
  readonly source: PluginSpec
  readonly row: SettingsRow & { readonly updated_at: Date }
  /** The condition that finds the row. */
  readonly where: { readonly connection_id: number } & Readonly<Record<string, unknown>>
}

/** Deletes a scope and everything that was collected for it; with `dataOnly` the scope itself stays. */
export async function removeScope(
  { database, plugins, actor = NOBODY }: ServiceContext,
  deleteAlone: DeleteAlone,
  { source, row, where }: StoredScope,
  dataOnly: boolean,
): Promise<Scope> {
  const { kysely } = database
  const { connection_id: connectionId } = where
  const scopeId = String(row[scopeKey(source)])
  const used = { plugin_name: source.name, connection_id: connectionId, scope_id: scopeId }
  if (!dataOnly) await requireUnused(kysely, `Scope ${scopeTitle(source, row)}`, used)
  await requireNothingRuns(kysely)
  const recorded = (queries: Queries, what: string) =>
    recordChange(queries, actor, {
      action: 'delete',
      subject: `${source.name} ${what}`,
      key: `${connectionId}:${scopeId}`,
      before: publicScope(source, row),
      after: null,
    })
  await deleteAlone(source, connectionId, row, async () => {
    // This is the first deletion. The rest follows in parts, outside this transaction.
    await database.transaction(async (inside) => {
      await forgetScope(inside, source, scopeParams(source, connectionId, row))
      await recorded(inside.kysely, 'scope data')
    })
    await deleteScopeData(database, plugins, source, connectionId, row)
    for (const rows of domainScopesOf(source, connectionId, row, entitiesOf([]))) {
      for (const plugin of plugins) await plugin.forget?.(database, rows)
    }
    if (dataOnly) return
    await database.transaction(async (inside) => {
      if ((await deleteRows(inside.kysely, source.scope.table, where)) === 0) return
      await recorded(inside.kysely, 'scope')
    })
  })
  return publicScope(source, row)
}
