/** Converts a few tool rows, to compare their domain rows before and after a change. */

import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, inPieces, onePiece } from '../../database/pieces.ts'
import { type Joins, readAll } from '../../database/read.ts'
import type { AnyTable, RawRecord } from '../../database/table.ts'
import { keyOf, type TableRow } from '../../database/table.ts'
import { isScoped } from '../raw/descendants.ts'
import type { AnyConvertSpec, Entity } from '../spec/entity.ts'
import { finderOf } from '../spec/lookups.ts'
import type { SourceTask } from '../spec/plugin.ts'
import { originOf, scopeRowOf } from '../transform/convert.ts'
import { stampOrigin } from '../transform/transform.ts'

/** A set of rows by table and key. */
export class RowSet {
  readonly #tables = new Map<AnyTable, Map<string, TableRow>>()
  add(rows: Iterable<TableRow>): void {
    for (const row of rows) {
      const own = this.#tables.get(row.table) ?? new Map<string, TableRow>()
      this.#tables.set(row.table, own.set(keyOf(row.table, row.cells), row))
    }
  }
  has(table: AnyTable): boolean {
    return this.#tables.has(table)
  }
  rows(table: AnyTable): TableRow[] {
    return [...(this.#tables.get(table)?.values() ?? [])]
  }
  /** The rows whose key does not occur in the other set. */
  without(other: RowSet): RowSet {
    const left = new RowSet()
    for (const [table, rows] of this.#tables) {
      for (const [key, row] of rows) if (!other.#tables.get(table)?.has(key)) left.add([row])
    }
    return left
  }
  *[Symbol.iterator](): Generator<TableRow> {
    for (const rows of this.#tables.values()) yield* rows.values()
  }
  get tables(): AnyTable[] {
    return [...this.#tables.keys()]
  }
}

const keyNames = (table: AnyTable): string[] => table.keys.map((position) => table.names[position] as string)

/** A condition that a row of `alias` is one of these rows. */
export function isAmong(table: AnyTable, rows: Iterable<TableRow>, alias?: string): RawBuilder<unknown> {
  const names = keyNames(table).map((name) => sql.ref(alias ? `${alias}.${name}` : name))
  const piece = onePiece([...rows])
  return among(sql`(${sql.join(names)})`, piece, ({ cells }) => {
    return sql`(${sql.join(table.keys.map((position) => cells[position]))})`
  })
}

export async function deleteRowSet({ kysely }: Database, rows: RowSet): Promise<number> {
  let count = 0
  for (const table of rows.tables) {
    for (const some of inPieces(rows.rows(table), table.keys.length)) {
      await sql`delete from ${sql.table(table.name)} where ${isAmong(table, some)}`.execute(kysely)
      count += some.length
    }
  }
  return count
}

/** Reads rows in their stored form. */
export async function readRowsOf(
  database: Database,
  table: AnyTable,
  condition: RawBuilder<unknown>,
): Promise<TableRow[]> {
  const rows = await readAll(database, { table, condition, isLiteral: true })
  return rows.map((row: RawRecord) => ({ table, cells: table.names.map((name) => row[name]) }))
}

/** Converts rows of an entity that are among `affected`, or whose joined rows are. */
export async function convertSome(entity: Entity, task: SourceTask, affected: RowSet): Promise<TableRow[]> {
  const { database, context } = task
  const spec = entity.spec.convert as AnyConvertSpec
  const sides = [['t', entity.table] as const, ...joinedTables(spec.joins ?? {})].filter(([, table]) =>
    affected.has(table),
  )
  if (sides.length === 0) return []
  const conditions = sides.map(([alias, table]) => isAmong(table, affected.rows(table), alias))
  const where = spec.where ? spec.where(context.scope, context) : entity.scopeWhere(entity.table, context.scope)
  const scoped = { ...('connection_id' in entity.table.columns && { connection_id: context.connectionId }), ...where }
  const rows: RawRecord[] = await readAll(database, {
    table: entity.table,
    joins: spec.joins,
    where: scoped,
    condition: sql.join(conditions, sql` or `),
  })
  const find = finderOf({ database, connectionId: context.connectionId, scope: context.scope }, spec.lookups ?? {})
  const full = { ...context, lookups: await find(rows) }
  const scopeRow = scopeRowOf(entity)
  const allowed = new Set(spec.to)
  return rows.flatMap((row) => {
    const made = [...spec.rows(row, full)]
    for (const each of made) {
      stampOrigin(each, originOf(isScoped(each.table, entity) ? scopeRow(row) : row), allowed)
    }
    return made
  })
}

const joinedTables = (joins: Joins): (readonly [string, AnyTable])[] =>
  Object.entries(joins).map(([alias, { table }]) => [alias, table] as const)
