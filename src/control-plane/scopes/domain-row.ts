/** Reads one row of the domain model by its id, so that people can see the data behind a number and where it came from. */
import { sql } from 'kysely'
import { domainTables } from '../../domain/index.ts'
import { UserError } from '../../errors.ts'
import { isRawTable } from '../../plugin-kit/raw/raw-table.ts'
import { pluginsOfFamily } from '../../plugin-kit/task/family.ts'
import { ALL_ENTITIES, domainScopesOf } from '../plan/domain-scopes.ts'
import { allConnected, scopeKey } from '../sources.ts'
import { selectRows } from '../store.ts'
import { scopeParams } from './scope-data.ts'
import {
  type Context,
  columnsOf,
  rawsOf,
  type ScopePlace,
  type StoredColumn,
  type StoredRow,
  selected,
  storedRow,
} from './scope-layers.ts'

const SHOWN_CHARACTERS = 20_000

interface DomainRow {
  readonly table: string
  readonly meaning: string
  readonly columns: readonly StoredColumn[]
  /** Its `record` is null when the raw record is no longer stored. */
  readonly row: StoredRow
  /** The scope that it was collected for; null when the row does not tell, or when the scope was removed. */
  readonly place: ScopePlace | null
}

export async function domainRow(
  context: Context,
  { table: name, id }: { readonly table: string; readonly id: string },
): Promise<DomainRow> {
  const { database } = context
  const table = domainTables.find((each) => each.name === name && each.origin >= 0 && each.keys.length === 1)
  if (!table) throw new UserError(`${name} is not a table whose rows have one id.`, { status: 404 })
  const columns = columnsOf({ layer: 'domain', table }, await database.describe())
  const key = sql.ref(table.names[table.keys[0] as number] as string)
  const { rows } = await sql<Record<string, unknown>>`select ${selected(columns, SHOWN_CHARACTERS)}
    from ${sql.table(name)} where ${key} = ${id}`.execute(database.kysely)
  const [found] = rows
  if (!found) {
    const message = `There is no row ${id} in ${name}. A later run may have removed it.`
    throw new UserError(message, { status: 404 })
  }
  const row = storedRow(columns, found, SHOWN_CHARACTERS)
  const origin = { table: String(found._raw_data_table ?? ''), params: String(found._raw_data_params ?? '') }
  const place = (await placeOf(context, origin)) ?? null
  const isKept = place !== null && row.record !== null && (await isStored(context, { ...row.record, ...origin }))
  return { table: name, meaning: table.meaning, columns, row: isKept ? row : { ...row, record: null }, place }
}

interface Origin {
  readonly table: string
  readonly params: string
}

async function isStored({ database }: Context, { table, id, params }: Origin & { readonly id: number }) {
  if (!isRawTable(table) || !(await database.describe()).has(table)) return false
  const { rows } = await sql`select 1 from ${sql.table(table)} where id = ${id} and params = ${params}`.execute(
    database.kysely,
  )
  return rows.length > 0
}

/** Finds the scope or push connection whose rows carry this mark. Rows made from a git history carry the id of the repository. */
async function placeOf(
  { database, plugins }: Context,
  { table: raw, params }: Origin,
): Promise<ScopePlace | undefined> {
  for (const { name, table, source } of allConnected(plugins)) {
    const isOwn = rawsOf(pluginsOfFamily(plugins, name)).includes(raw)
    if (!source) {
      if (!isOwn) continue
      const connections = await selectRows(database.kysely, table, (query) => query.orderBy('id'))
      const connection = connections.find(({ id }) => JSON.stringify({ ConnectionId: Number(id) }) === params)
      if (connection) return { plugin: name, connectionId: Number(connection.id) }
      continue
    }
    for (const scope of await selectRows(database.kysely, source.scope.table, (query) => query)) {
      const connectionId = Number(scope.connection_id)
      const isMarked =
        (isOwn && scopeParams(source, connectionId, scope) === params) ||
        domainScopesOf(source, connectionId, scope, new Set(ALL_ENTITIES)).some(({ rowId }) => rowId === params)
      if (isMarked) return { plugin: name, connectionId, scopeId: String(scope[scopeKey(source)]) }
    }
  }
  return undefined
}
