/** Fills the fields of domain rows from the raw records that the rows were made from. */

import { sql } from 'kysely'
import type { AnyTable } from '../../database/table.ts'
import { keyOf, type TableRow } from '../../database/table.ts'
import { issueCustomArrayFields, issues } from '../../domain/ticket.ts'
import { messageOf, RecordError } from '../../errors.ts'
import {
  among,
  eachWhileWriting,
  inBatches,
  inChunks,
  inPieces,
  letGo,
  nextStamp,
  parseExactBytes,
  putInQuarantine,
  quarantinedIds,
  type RejectedRecord,
  releaseFromQuarantine,
  retrying,
  type Subtask,
  type SubtaskKey,
  type SubtaskResult,
  type TaskRun,
  update,
  write,
} from '../../plugin-kit/index.ts'
import { type Rule, readRules } from './rules.ts'

const FETCH = 200
const BATCH_RECORDS = 1000
const BATCH_BYTES = 8 << 20

/** A domain row with its key and origin, and the raw record that it was made from. */
interface Source {
  readonly data: Buffer | null
  readonly _raw_data_id: number
  readonly [column: string]: unknown
}
/** The values from one source: those of its fields, and those of fields that hold several values. */
interface Brought {
  readonly fields: TableRow
  readonly values: readonly TableRow[]
}

const NAME = 'extractCustomizedFields'

export const extractCustomizedFields: Subtask = {
  name: NAME,
  step: 'extract',
  reads: [],
  writes: [issueCustomArrayFields.name],
  domainTypes: [],
  isDefault: true,
  run: (run) => extractAll(run),
  redrive: (run) => extractAll(run, (place) => quarantinedIds(run.database, place)),
}

async function extractAll(
  run: TaskRun,
  only?: (place: SubtaskKey) => Promise<readonly number[]>,
): Promise<SubtaskResult> {
  const total = { records: 0, rows: 0, quarantined: 0 }
  // One stamp for all rules. Otherwise one rule would remove the quarantined records of another rule in the same place.
  const stamp = nextStamp()
  for (const rule of await readRules(run)) {
    const place: SubtaskKey = {
      plugin: 'customize',
      subtask: NAME,
      params: `${rule.table.name} ${rule.rawParams}`.slice(0, 255),
    }
    const rawIds = await only?.(place)
    if (rawIds?.length === 0) continue
    await eachWhileWriting(
      inBatches(sourcesOf(run, rule, rawIds), BATCH_RECORDS, sizeOf, BATCH_BYTES),
      async (batch) => {
        run.signal.throwIfAborted()
        const { brought, rejected } = readBatch(rule, batch)
        return async () => {
          await store(run, rule, brought)
          if (rejected.length > 0) await putInQuarantine(run.database, place, rejected, stamp)
          total.records += batch.length
          total.rows += brought.length - rejected.length
          total.quarantined += rejected.length
          run.progress({ done: total.records })
        }
      },
    )
    await releaseFromQuarantine(run.database, place, stamp, rawIds ?? 'all')
  }
  await retrying(run.database, () =>
    sql`delete from ${sql.table(issueCustomArrayFields.name)} where not exists (
      select 1 from issues i where i.id = issue_id)`.execute(run.database.kysely),
  )
  return total
}

const sizeOf = ({ data }: Source) => data?.length ?? 0

async function* sourcesOf(
  { database }: TaskRun,
  { table, rawTable, rawParams }: Rule,
  rawIds?: readonly number[],
): AsyncGenerator<readonly Source[]> {
  const columns = [...keyNames(table), '_raw_data_params', '_raw_data_table', '_raw_data_id']
  const params = sql.ref('t._raw_data_params')
  // The text is also compared literally, because JSON may contain backslashes, which have another meaning in a pattern.
  const isAsked = /[%_\\]/.test(rawParams)
    ? sql`(${params} = ${rawParams} or ${params} like ${rawParams})`
    : sql`${params} = ${rawParams}`
  for (const piece of rawIds ? inPieces(rawIds) : [undefined]) {
    const selected = sql`select ${sql.join(columns.map((name) => sql.ref(`t.${name}`)))}, r.data as data
      from ${sql.table(table.name)} as t inner join ${sql.table(rawTable)} as r on r.id = t._raw_data_id
      where t._raw_data_table = ${rawTable} and ${isAsked} and (r.data is null or not ${letGo('r.data')}) ${piece ? sql`and ${among(sql`r.id`, piece)}` : sql``}`
    yield* inChunks<Source>(database, database.kysely.selectFrom(sql`(${selected})`.as('selected')).selectAll(), FETCH)
  }
}

const keyNames = (table: AnyTable) => table.keys.map((position) => table.names[position] as string)

function readBatch(rule: Rule, batch: readonly Source[]) {
  const brought: Brought[] = []
  const rejected: RejectedRecord[] = []
  for (const source of batch) {
    try {
      brought.push(readSource(rule, source))
    } catch (error) {
      if (!(error instanceof RecordError)) throw error
      // Values from an older version of the record are no longer true, so the fields are emptied.
      brought.push({ fields: rule.table.row(keysOf(rule.table, source)), values: [] })
      rejected.push({
        raw_table: rule.rawTable,
        raw_id: source._raw_data_id,
        record_key: keyNames(rule.table)
          .map((name) => source[name])
          .join(':')
          .slice(0, 255),
        entity: rule.table.name,
        reason: messageOf(error),
      })
    }
  }
  return { brought, rejected }
}

const keysOf = (table: AnyTable, source: Source): Record<string, unknown> =>
  Object.fromEntries(keyNames(table).map((name) => [name, source[name]]))

function readSource(rule: Rule, source: Source): Brought {
  const document = parse(source.data)
  const fields = keysOf(rule.table, source)
  const values: TableRow[] = []
  for (const [column, read] of rule.mapping) {
    const value = read(document)
    if (rule.table.name === issues.name && Array.isArray(value)) {
      for (const each of value) if (each !== null) values.push(arrayValue(source, column, each))
    } else fields[column] = plain(value)
  }
  return { fields: rule.table.row(fields), values }
}

const arrayValue = (source: Source, column: string, value: unknown): TableRow =>
  issueCustomArrayFields.row({
    issue_id: source.id as string,
    field_id: column,
    field_value: String(plain(value)),
    _raw_data_params: source._raw_data_params as string,
    _raw_data_table: source._raw_data_table as string,
    _raw_data_id: source._raw_data_id,
  })

/** Objects and lists are stored as JSON text. */
const plain = (value: unknown): unknown => (value !== null && typeof value === 'object' ? JSON.stringify(value) : value)

function parse(data: Buffer | null): unknown {
  try {
    return parseExactBytes(data ?? new Uint8Array())
  } catch (error) {
    throw new RecordError(`not JSON: ${messageOf(error)}`)
  }
}

/** Stores a batch in one transaction, so that a reader sees the fields and the lists of a row from the same run. */
async function store({ database }: TaskRun, rule: Rule, brought: readonly Brought[]): Promise<void> {
  if (brought.length === 0) return
  await retrying(database, () =>
    database.transaction(async (inside) => {
      await update(
        inside,
        brought.map(({ fields }) => fields),
      )
      if (rule.table.name !== issues.name) return
      const ids = brought.map(({ fields }) => keyOf(fields.table, fields.cells))
      for (const issueIds of inPieces(ids)) {
        for (const names of inPieces(rule.mapping.keys())) {
          await sql`delete from ${sql.table(issueCustomArrayFields.name)}
            where ${among(sql`issue_id`, issueIds)} and ${among(sql`field_id`, names)}`.execute(inside.kysely)
        }
      }
      await write(
        inside,
        brought.flatMap(({ values }) => values),
      )
    }),
  )
}
