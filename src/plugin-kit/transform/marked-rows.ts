/** Rows that are not made from raw records. They have a mark of their own, and a full pass replaces all rows with that mark. */

import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { type RowShape, wholeRows } from '../../database/rows.ts'
import type { AnyColumns, AnyTable } from '../../database/table.ts'
import { inKeyOrder, type TableRow } from '../../database/table.ts'
import { retrying, stampRow } from '../../database/write.ts'
import { nextStamp } from './window.ts'

interface Mark {
  readonly table: string
  readonly params: string
}

export interface MarkedRows {
  /** Writes rows of one table, no two of them with the same key. */
  write(rows: readonly TableRow[]): Promise<void>
  /** Collects rows that come one by one, in the order of their keys. */
  gather<Item>(shape: RowShape<AnyColumns, Item>): MarkedGathering<Item>
  /** Deletes rows with the mark that were not written since this object was opened. */
  sweep(table: AnyTable, condition?: RawBuilder<unknown>): Promise<void>
  /** The same for rows that others may need: a row stays if its value in `column` occurs in the column of another table. */
  sweepUnless(table: AnyTable, column: string, needed: { table: AnyTable; column: string }): Promise<void>
}

interface MarkedGathering<Item> {
  add(item: Item): void
  /** Writes the items added so far. Items that are added during the write belong to the next one. */
  send(): Promise<void>
}

const SWEEP_BATCH = 1000

export function openMarkedRows(database: Database, mark: Mark): MarkedRows {
  const stamp = nextStamp()
  const markCells = {
    created_at: stamp,
    updated_at: stamp,
    _raw_data_params: mark.params,
    _raw_data_table: mark.table,
  }
  const isStale = sql`_raw_data_params = ${mark.params} and _raw_data_table = ${mark.table}
    and (updated_at is null or updated_at <> ${stamp})`
  const run = <Row>(statement: RawBuilder<Row>) => retrying(database, () => statement.execute(database.kysely))
  return {
    async write(rows) {
      const [first] = rows
      if (!first) return
      for (const row of rows) {
        stampRow(row, stamp)
        row.cells[first.table.origin] = mark.params
        row.cells[first.table.origin + 1] = mark.table
      }
      const sorted = inKeyOrder(
        first.table,
        rows.map(({ cells }) => cells),
      )
      await retrying(database, () => database.sendRows(wholeRows(first.table, sorted), 'upsert'))
    },
    gather(shape) {
      const { add, take, release } = database.gather({ ...shape, shared: { ...shape.shared, ...markCells } })
      return {
        add,
        async send() {
          const rows = take()
          if (rows.length > 0) await retrying(database, () => database.sendRows(rows, 'upsert'))
          release(rows)
        },
      }
    },
    async sweep(table, condition = sql`1 = 1`) {
      await run(sql`delete from ${sql.table(table.name)} where ${isStale} and ${condition}`)
    },
    async sweepUnless(table, column, needed) {
      const [own, other] = [sql.ref(column), sql.ref(needed.column)]
      for (let last = ''; ; ) {
        const { rows } = await run(sql<{ value: string }>`select distinct ${own} as value from ${sql.table(table.name)}
          where ${isStale} and ${own} > ${last} order by ${own} limit ${sql.lit(SWEEP_BATCH)}`)
        if (rows.length === 0) return
        const values = rows.map(({ value }) => value)
        const kept = await run(sql<{
          value: string
        }>`select distinct ${other} as value from ${sql.table(needed.table.name)}
          where ${other} in (${sql.join(values)})`)
        const stay = new Set(kept.rows.map(({ value }) => value))
        const gone = values.filter((value) => !stay.has(value))
        if (gone.length > 0) {
          await run(sql`delete from ${sql.table(table.name)} where ${isStale} and ${own} in (${sql.join(gone)})`)
        }
        last = values.at(-1) as string
      }
    },
  }
}
