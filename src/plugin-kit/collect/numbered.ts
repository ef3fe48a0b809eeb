/**
 * Numbered lists are read from the newest record down. The record that a reading began with is its reach; it is stored with
 * the last page, so that the next reading stops there. If another record has that number by then, or the newest record has a
 * lower one, the list was created again, and is read to its end.
 *
 * For an input that contains everything its answer depends on (`tellsChange`), a digest of the input is stored in the same way.
 */
import { sql } from 'kysely'
import { collectReaches } from '../raw/collect-tables.ts'
import type { RawTable } from '../raw/raw-table.ts'
import type { Numbered, Reach } from '../spec/collect.ts'
import type { SourceTask } from '../spec/plugin.ts'
import { inputKey } from './run.ts'

/** Stored reaches by the group of the raw records. Lists without stored records are left out. */
export async function readReaches({ database, params }: SourceTask, raw: RawTable): Promise<Map<string, Reach>> {
  const { rows } = await sql<Reach & { input_key: string }>`select input_key, number, made
    from ${sql.table(collectReaches.name)} as reach
    where raw_table = ${raw.name} and params = ${params} and exists (
      select 1 from ${sql.table(raw.name)} as record
      where record.input_key = reach.input_key and record.params = reach.params)`.execute(database.kysely)
  return new Map(rows.map(({ input_key, number, made }) => [input_key, { number: Number(number), made: Number(made) }]))
}

const DIGITS = 12
/** A digest of an input as two numbers of 48 bits, which are exact everywhere. */
export function inputReach(input: unknown): Reach {
  const key = inputKey(input)
  const digits = (start: number) => Number.parseInt(key.slice(start, start + DIGITS), 16)
  return { number: digits(0), made: digits(DIGITS) }
}
export const isSameReach = (one: Reach, other: Reach | undefined): boolean =>
  one.number === other?.number && one.made === other.made

/** True if there is nothing to ask for: the newest record is known, or older than the start date. */
export const isUpToDate = (newest: Reach, known: Reach | undefined, wantedFrom: Date | null): boolean =>
  isSameReach(newest, known) || (wantedFrom !== null && newest.made < wantedFrom.getTime())

/** Number of new records at the top of a page; undefined: this is not the list that is known. */
export function newOnPage(
  numbered: Numbered,
  records: readonly unknown[],
  known: Reach,
  isFirstPage: boolean,
): number | undefined {
  const at = records.findIndex((record) => numbered.of(record).number <= known.number)
  if (at < 0) return records.length
  const { number, made } = numbered.of(records[at])
  const isOther = number === known.number ? made !== known.made : isFirstPage && at === 0
  return isOther ? undefined : at
}
