/**
 * How far each list of a collector is known: by the newest record of a numbered list, or by a digest of an input that contains
 * everything its answer depends on (`tellsChange`).
 */
import { sql } from 'kysely'
import { collectReaches } from '../../raw/collect-tables.ts'
import type { RawTable } from '../../raw/raw-table.ts'
import type { Reach } from '../../spec/collect.ts'
import type { SourceTask } from '../../spec/plugin.ts'
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
