/** The content of a backup: every table of Weir, with the columns that users added, in a fixed order. */
import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { LiveTable } from '../database/dialect.ts'
import { shapeOf } from '../database/schema-hash.ts'
import { type AnyTable, type Column, defineTable } from '../database/table.ts'
import { servers } from '../system/runs.ts'
import { restores } from '../system/state.ts'
import { allTables } from '../tables.ts'
import { type AddedColumn, encodeCell, isKind } from './format.ts'

/** Tables about the present moment of one database: the servers that run on it, and a restore that was begun. */
const OF_THE_MOMENT = new Set<AnyTable>([servers, restores])

export const backedUpTables: readonly AnyTable[] = allTables
  .filter((table) => !OF_THE_MOMENT.has(table))
  .toSorted((one, other) => (one.name < other.name ? -1 : 1))

/** Equal for two versions of Weir exactly when they have the same tables. */
export const schemaChecksum: string = createHash('sha256')
  .update(JSON.stringify(backedUpTables.map(shapeOf)))
  .digest('hex')

/** Columns that the database has and the code does not know. A column of unknown type counts as text. */
export const addedColumns = (table: AnyTable, live: LiveTable | undefined): AddedColumn[] =>
  [...(live?.columns ?? [])]
    .filter(([name]) => !table.names.includes(name))
    .map(([name, { type, size }]) => ({ name, kind: isKind(type) ? type : ('text' as const), size }))
    .toSorted((one, other) => (one.name < other.name ? -1 : 1))

const columnOf = ({ kind, size }: AddedColumn): Column => ({
  kind,
  missing: 'null',
  ...(kind === 'string' && { size: size ?? 255 }),
})

export const withAdded = (table: AnyTable, added: readonly AddedColumn[]): AnyTable =>
  added.length === 0
    ? table
    : defineTable(
        table.name,
        { ...table.columns, ...Object.fromEntries(added.map((each) => [each.name, columnOf(each)])) },
        { keyOrder: table.keys.map((position) => table.names[position] as string) },
      )

const FETCH = 200

/** The rows of a table as lines of a backup, in the same order on both engines. */
export async function* rowLines({ kysely, dialect }: Database, table: AnyTable): AsyncGenerator<string> {
  const kinds = table.names.map((name) => (table.columns[name] as Column).kind)
  const order = (table.keys.length > 0 ? table.keys : table.names.keys().toArray()).map((position) =>
    sql.raw(dialect.inCodeOrder(dialect.quote(table.names[position] as string), kinds[position] as Column['kind'])),
  )
  const columns = table.names.map((name, position) => columnText(name, kinds[position] as Column['kind']))
  const query = sql`(select ${sql.join(columns)} from ${sql.table(table.name)} order by ${sql.join(order)})`
  const rows = kysely.selectFrom(query.as('stored')).selectAll().stream(FETCH)
  for await (const row of rows) {
    const cells = table.names.map((name, position) =>
      encodeCell(kinds[position] as Column['kind'], (row as Record<string, unknown>)[name]),
    )
    yield JSON.stringify(cells)
  }
}

/** Reads JSON as text: drivers would parse it, and lose what a number cannot hold. */
const columnText = (name: string, kind: Column['kind']): RawBuilder<unknown> =>
  kind === 'json'
    ? sql`case when ${sql.id(name)} is null then null else concat(${sql.id(name)}, '') end as ${sql.id(name)}`
    : sql`${sql.id(name)}`

export const generatedColumn = ({ names, columns }: AnyTable): string | undefined =>
  names.find((name) => (columns[name] as Column).isGenerated)
