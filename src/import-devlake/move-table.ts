/** Takes the rows of one table through its rule, batch by batch. The progress is written together with each batch. */

import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { writePlans } from '../control-plane/plan/stored-plans.ts'
import type { Database } from '../database/database.ts'
import { knowing } from '../database/kysely.ts'
import { wholeRows } from '../database/rows.ts'
import { type AnyTable, type Column, inKeyOrder, keyOf } from '../database/table.ts'
import { write } from '../database/write.ts'
import { RecordError } from '../errors.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { type Progress, progressOf, saveProgress } from './journal.ts'
import type { SharedTable } from './layout.ts'
import type { Changed, Rule } from './rules.ts'
import { ourRow, type Values } from './values.ts'

/** One row as DevLake has it, and the change that the rule makes. */
interface Moved {
  readonly row: Values
  readonly change: Changed
}
/** Writes a batch within a transaction. */
type Sink = (inside: Database, table: AnyTable, batch: readonly Moved[], progress: Progress) => Promise<void>

interface Move {
  readonly source: Database
  readonly target: Database
  readonly secrets: Secrets
  readonly rules: ReadonlyMap<string, Rule>
  readonly sink: Sink
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((table: string, records: number) => void) | undefined
}

const FETCH = 200
const MOST_ROWS = 1000
const MOST_BYTES = 4 << 20

export async function moveTable(move: Move, shared: SharedTable): Promise<void> {
  const { source, target, rules, signal, onProgress } = move
  const { table } = shared
  const progress = await progressOf(target, table.name)
  if (progress.isFinished) return
  const isResumable = table.keys.length > 0
  if (!isResumable) await knowing(target.kysely, table).deleteFrom(table.name).execute()
  const rule: Rule = rules.get(table.name) ?? ((values) => ({ values }))
  for await (const rows of inBatches(rowsAfter(source, shared, progress.lastKey))) {
    signal?.throwIfAborted()
    const batch = rows.map((row) => ({ row, change: rule(row) }))
    await target.transaction(async (inside) => {
      await writeBatch(inside, move, table, batch, progress)
      if (isResumable) await saveProgress(inside, table.name, progress)
    })
    onProgress?.(table.name, progress.records)
  }
  await continueNumbers(target, table)
  progress.isFinished = true
  await saveProgress(target, table.name, progress)
}

/** Makes the numbers of new rows follow those that were imported. */
export async function continueNumbers({ dialect, kysely }: Database, table: AnyTable): Promise<void> {
  const numbered = table.names.find((name) => (table.columns[name] as Column).isGenerated)
  const statement = numbered && dialect.continueNumbers?.(table, numbered)
  if (statement) await sql.raw(statement).execute(kysely)
}

async function writeBatch(
  inside: Database,
  { sink, secrets }: Move,
  table: AnyTable,
  batch: readonly Moved[],
  progress: Progress,
): Promise<void> {
  await sink(inside, table, batch, progress)
  for (const { change } of batch) {
    if (change.plans) await writePlans(inside.kysely, change.plans, change.plans.byField, secrets)
    if (change.rows) await write(inside, change.rows)
    if (change.reason) note(progress, change.reason)
    progress.missing.push(...(change.missing ?? []))
  }
  progress.lastKey = keyValues(table, batch.at(-1)?.row ?? {})
}

const note = ({ reasons }: Progress, reason: string) => reasons.set(reason, (reasons.get(reason) ?? 0) + 1)

const keyNames = ({ keys, names }: AnyTable) => keys.map((position) => names[position] as string)
const keyValues = (table: AnyTable, row: Values): Values =>
  Object.fromEntries(keyNames(table).map((name) => [name, row[name]]))

/** Copies into tables of Weir. A row that does not fit is counted, with the message about its value as the reason. */
export const copyRows =
  (stamp: Date): Sink =>
  async (inside, table, batch, progress) => {
    const rows = new Map<string, ReturnType<typeof ourRow>['cells']>()
    for (const { change } of batch) {
      if (!change.values) continue
      try {
        const { cells } = ourRow(table, change.values, stamp)
        rows.set(table.keys.length > 0 ? keyOf(table, cells) : String(rows.size), cells)
      } catch (error) {
        if (!(error instanceof RecordError)) throw error
        note(progress, `unreadable: ${error.message}`)
      }
    }
    if (rows.size === 0) return
    const sorted = inKeyOrder(table, rows.values())
    await inside.sendRows(wholeRows(table, sorted), table.keys.length > 0 ? 'upsert' : 'insert')
    progress.records += rows.size
  }

/** Changes rows in place: writes only what the rule changed. */
export const changeRows: Sink = async ({ kysely }, table, batch, progress) => {
  for (const { row, change } of batch) {
    const where = Object.entries(keyValues(table, row))
    if (!change.values) {
      const remove = where.reduce(
        (query, [name, value]) => query.where(name, '=', value),
        knowing(kysely, table).deleteFrom(table.name),
      )
      await remove.execute()
      continue
    }
    progress.records++
    const changes = Object.entries(change.values).filter(([name, value]) => value !== row[name])
    if (changes.length === 0) continue
    const update = knowing(kysely, table).updateTable(table.name).set(Object.fromEntries(changes))
    await where.reduce((query, [name, value]) => query.where(name, '=', value), update).execute()
  }
}

async function* rowsAfter({ kysely }: Database, { table, names }: SharedTable, lastKey: Values | null) {
  const keys = keyNames(table)
  let query = knowing(kysely, table)
    .selectFrom(table.name)
    .select([...names])
  if (lastKey) query = query.where(isAfter(table, keys, lastKey))
  for (const name of keys) query = query.orderBy(name)
  yield* query.stream(FETCH) as AsyncIterable<Values>
}

/** The engine that orders the keys also compares them. So, whatever its collation, rows after the last key have not been read yet. */
function isAfter(table: AnyTable, keys: readonly string[], lastKey: Values): RawBuilder<SqlBool> {
  const keyValue = (name: string) =>
    (table.columns[name] as Column).kind === 'timestamp' ? new Date(String(lastKey[name])) : lastKey[name]
  const parts = keys.map((name, index) => {
    const same = keys.slice(0, index).map((before) => sql`${sql.id(before)} = ${keyValue(before)}`)
    return sql`(${sql.join([...same, sql`${sql.id(name)} > ${keyValue(name)}`], sql` and `)})`
  })
  return sql<SqlBool>`(${sql.join(parts, sql` or `)})`
}

async function* inBatches(rows: AsyncIterable<Values>): AsyncGenerator<Values[]> {
  let batch: Values[] = []
  let bytes = 0
  for await (const row of rows) {
    batch.push(row)
    for (const value of Object.values(row)) {
      if (typeof value === 'string' || Buffer.isBuffer(value)) bytes += value.length
    }
    if (batch.length < MOST_ROWS && bytes < MOST_BYTES) continue
    yield batch
    batch = []
    bytes = 0
  }
  if (batch.length > 0) yield batch
}
