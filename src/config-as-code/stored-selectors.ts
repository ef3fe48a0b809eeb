import { withBareAddresses } from '../address-secrets.ts'
import { deleteRows, insertRow, selectRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import type { RowOf } from '../database/table.ts'
import { scopeSelectors } from '../system/projects.ts'
import type { Selector } from './selectors.ts'

export interface StoredSelector extends Selector {
  /** 0: none. */
  readonly scopeConfigId: number
}
export interface ConnectionSelectors {
  readonly plugin: string
  readonly connectionId: number
  readonly selectors: readonly StoredSelector[]
}

export async function saveSelectors(
  { kysely }: Database,
  blueprintId: number,
  connections: readonly ConnectionSelectors[],
): Promise<void> {
  await kysely.transaction().execute(async (transaction) => {
    await deleteRows(transaction, scopeSelectors, { blueprint_id: blueprintId })
    for (const { plugin, connectionId, selectors } of connections) {
      const row = {
        blueprint_id: blueprintId,
        plugin,
        connection_id: connectionId,
        selectors: withBareAddresses(selectors),
      }
      await insertRow(transaction, scopeSelectors, row)
    }
  })
}

const asStored = ({ plugin, connection_id, selectors }: RowOf<typeof scopeSelectors>): ConnectionSelectors => ({
  plugin,
  connectionId: connection_id,
  selectors,
})

export async function readSelectors({ kysely }: Database, blueprintId: number): Promise<ConnectionSelectors[]> {
  const rows = await selectRows(kysely, scopeSelectors, (query) => query.where('blueprint_id', '=', blueprintId))
  return rows.map(asStored)
}

/** Those of all blueprints that choose from one connection. */
export async function readSelectorsOf(
  { kysely }: Database,
  plugin: string,
  connectionId: number,
): Promise<{ readonly blueprintId: number; readonly selectors: readonly StoredSelector[] }[]> {
  const rows = await selectRows(kysely, scopeSelectors, (query) =>
    query.where('plugin', '=', plugin).where('connection_id', '=', connectionId).orderBy('blueprint_id'),
  )
  return rows.map(({ blueprint_id, selectors }) => ({ blueprintId: blueprint_id, selectors }))
}
