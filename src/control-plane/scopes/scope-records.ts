/** Reads one raw record with the rows made from it, and samples of many records to choose from. */

import { sql } from 'kysely'
import { parseExactBytes } from '../../database/exact-json.ts'
import { knowing } from '../../database/kysely.ts'
import { UserError } from '../../errors.ts'
import type { SettingsRow } from '../sources.ts'
import {
  type Context,
  columnsOf,
  type Layer,
  type LayeredTable,
  layeredTables,
  type RecordPlace,
  type ScopeMarks,
  type StoredColumn,
  type StoredRow,
  selected,
  storedRow,
  tableNamed,
} from './scope-layers.ts'

const SHOWN_CHARACTERS = 20_000
/** In bytes. Of longer records only the beginning is shown, as text. */
const LONGEST_RECORD = 1 << 20
const LONGEST_TEXT = 100_000
const MOST_MADE = 50

interface FollowedRecord {
  readonly raw: {
    readonly table: string
    readonly id: number
    readonly url: string
    readonly input: unknown
    readonly createdAt: Date
    readonly bytes: number
    readonly data: unknown
    /** Set instead of `data` when the record is too long or not JSON. */
    readonly text: string | null
  }
  readonly made: readonly {
    readonly layer: Layer
    readonly table: string
    readonly columns: readonly StoredColumn[]
    readonly rows: readonly StoredRow[]
  }[]
}

export async function followRecord(context: Context, marks: ScopeMarks, place: RecordPlace): Promise<FollowedRecord> {
  const { kysely } = context.database
  const { layer } = tableNamed(marks, place.table)
  if (layer !== 'raw')
    throw new UserError(`${place.table} has no raw records: name the raw table that its rows came from.`)
  const { rows } = await sql<RawRow>`select id, url, input, created_at, octet_length(data) as bytes,
    case when octet_length(data) <= ${sql.lit(LONGEST_RECORD)} then data else substring(data, 1, ${sql.lit(LONGEST_TEXT)}) end as data
    from ${sql.table(place.table)} where id = ${place.id} and params = ${marks.params}`.execute(kysely)
  const [raw] = rows
  if (!raw) {
    const message = `There is no record ${place.id} in ${place.table} of this scope. A newer version may have replaced it.`
    throw new UserError(message, { status: 404 })
  }
  const made: FollowedRecord['made'][number][] = []
  const live = await context.database.describe()
  for (const { layer: madeLayer, table } of madeOf(marks, place.table)) {
    const columns = columnsOf({ layer: madeLayer, table }, live)
    const { rows: found } =
      await sql<SettingsRow>`select ${selected(columns, SHOWN_CHARACTERS)} from ${sql.table(table.name)}
      where _raw_data_params = ${marks.params} and _raw_data_table = ${place.table} and _raw_data_id = ${place.id}
      limit ${sql.lit(MOST_MADE)}`.execute(kysely)
    if (found.length === 0) continue
    made.push({
      layer: madeLayer,
      table: table.name,
      columns,
      rows: found.map((row) => storedRow(columns, row, SHOWN_CHARACTERS)),
    })
  }
  const { id, url, input, created_at: createdAt, bytes } = raw
  return {
    raw: { table: place.table, id, url: url ?? '', input, createdAt, bytes: Number(bytes), ...contentOf(raw) },
    made,
  }
}

interface RawRow {
  readonly id: number
  readonly url: string | null
  readonly input: unknown
  readonly created_at: Date
  readonly bytes: number
  readonly data: Buffer | null
}

function contentOf({ data, bytes }: Pick<RawRow, 'data' | 'bytes'>): { data: unknown; text: string | null } {
  const content = data ?? Buffer.alloc(0)
  if (Number(bytes) > LONGEST_RECORD) return { data: null, text: content.toString() }
  try {
    return { data: parseExactBytes(content), text: null }
  } catch {
    return { data: null, text: content.toString().slice(0, LONGEST_TEXT) }
  }
}

/** Finds the tables that extraction and conversion can fill from a raw table, by what each subtask reads and writes. */
function madeOf(marks: ScopeMarks, raw: string): LayeredTable[] {
  const subtasks = marks.own.flatMap((plugin) => plugin.subtasks)
  const reached = new Set([raw])
  for (const step of ['extract', 'convert'] as const) {
    const next = subtasks.filter((each) => each.step === step && each.reads.some((name) => reached.has(name)))
    for (const name of next.flatMap(({ writes }) => writes)) reached.add(name)
  }
  return layeredTables(marks).filter(({ layer, table }) => layer !== 'raw' && reached.has(table.name))
}

/** A sample has the newest raw records, as many as can be read quickly. */
const SAMPLE_RECORDS = 200
const SAMPLE_BYTES = 4 << 20

interface Sample {
  readonly id: number
  readonly document: unknown
}

export async function sampleRecords({ database }: Context, marks: ScopeMarks, rawTable: string): Promise<Sample[]> {
  const { layer } = tableNamed(marks, rawTable)
  if (layer !== 'raw') throw new UserError(`${rawTable} is not a table of raw records.`, { status: 404 })
  const { rows: sizes } = await sql<{ id: number; bytes: number }>`select id, octet_length(data) as bytes
    from ${sql.table(rawTable)} where params = ${marks.params} order by id desc limit ${sql.lit(SAMPLE_RECORDS)}`.execute(
    database.kysely,
  )
  const ids: number[] = []
  let room = SAMPLE_BYTES
  for (const { id, bytes } of sizes) {
    if (Number(bytes) > room) continue
    room -= Number(bytes)
    ids.push(id)
  }
  if (ids.length === 0) return []
  const { rows } = await sql<{ id: number; data: Buffer }>`select id, data from ${sql.table(rawTable)}
    where id in (${sql.join(ids)}) order by id desc`.execute(database.kysely)
  return rows.flatMap(({ id, data }) => {
    try {
      return [{ id, document: parseExactBytes(data) }]
    } catch {
      return []
    }
  })
}

const MOST_TITLES = 5000

/** Readable names for keys that say nothing by themselves, by key. */
export async function keyTitles(
  { database, plugins }: Context,
  marks: ScopeMarks,
): Promise<ReadonlyMap<string, string>> {
  const named = plugins.find(({ name }) => name === marks.plugin)?.source?.keyTitles
  if (!named) return new Map()
  const rows = await knowing(database.kysely, named.table)
    .selectFrom(named.table.name)
    .select([named.key, named.title])
    .where('connection_id', '=', marks.connectionId)
    .distinct()
    .limit(MOST_TITLES)
    .execute()
  return new Map(rows.map((row: SettingsRow) => [String(row[named.key]), String(row[named.title])]))
}
