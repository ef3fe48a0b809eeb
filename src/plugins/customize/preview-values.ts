/** Previews the values that a path would write into a field of some rows. */

import { sql } from 'kysely'
import type { AnyTable, RawRecord } from '../../database/table.ts'
import { defineTable } from '../../database/table.ts'
import { messageOf, RecordError } from '../../errors.ts'
import { among, onePiece } from '../../plugin-kit/index.ts'
import { type Database, FIELD_TYPES, type FieldType } from './fields.ts'
import { readPath } from './json-path.ts'

interface PreviewedValue {
  /** The key of the domain row. */
  readonly key: string
  readonly value: unknown
  /** The reason why the value does not fit. Null if it fits. */
  readonly problem: string | null
}
interface PreviewedValues {
  /** The number of rows that were looked at. */
  readonly rows: number
  readonly filled: number
  readonly refused: number
  readonly samples: readonly PreviewedValue[]
}

interface Asked {
  readonly table: AnyTable
  readonly rawTable: string
  readonly params: string
  readonly path: string
  readonly dataType: FieldType
  /** The sampled raw records, by their id. */
  readonly documents: ReadonlyMap<number, unknown>
}

const MOST_ROWS = 200
const MOST_SAMPLES = 12
const LONGEST_VALUE = 300

export async function previewValues(
  { kysely }: Database,
  { table, rawTable, params, path, dataType, documents }: Asked,
): Promise<PreviewedValues> {
  const read = readPath(path)
  if (documents.size === 0) return { rows: 0, filled: 0, refused: 0, samples: [] }
  const keys = table.keys.map((position) => table.names[position] as string)
  const { rows } = await sql<
    Record<string, unknown>
  >`select _raw_data_id, ${sql.join(keys.map((name) => sql.ref(name)))}
    from ${sql.table(table.name)} where _raw_data_params = ${params} and _raw_data_table = ${rawTable}
    and ${among(sql`_raw_data_id`, onePiece(documents.keys()))} limit ${sql.lit(MOST_ROWS)}`.execute(kysely)
  const field = defineTable('preview', { value: FIELD_TYPES[dataType] })
  const values = rows.map((row): PreviewedValue => {
    const key = keys.map((name) => row[name]).join(' ')
    const value = read(documents.get(Number(row._raw_data_id)))
    // The elements of a list are stored one by one.
    if (Array.isArray(value) && table.name === 'issues') return { key, value: short(value), problem: null }
    try {
      const plain = value !== null && typeof value === 'object' ? JSON.stringify(value) : value
      const [cell] = field.row({ value: plain as RawRecord }).cells
      return { key, value: short(cell), problem: null }
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      return { key, value: short(value), problem: messageOf(error).replace('preview.value: ', '') }
    }
  })
  const refused = values.filter(({ problem }) => problem !== null)
  const filled = values.filter(({ problem, value }) => problem === null && value !== null)
  const empty = values.filter(({ problem, value }) => problem === null && value === null)
  const samples = [...refused.slice(0, MOST_SAMPLES / 2), ...filled, ...empty].slice(0, MOST_SAMPLES)
  return { rows: values.length, filled: filled.length, refused: refused.length, samples }
}

const short = (value: unknown): unknown => {
  if (value === undefined || value === null) return null
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE)}…` : value
}
