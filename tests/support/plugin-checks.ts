/** Holds the declaration of a plugin against a fake vendor. Each check returns what is wrong, one sentence each. */

import { type Expression, type SqlBool, sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import { parseExactBytes } from '../../src/database/exact-json.ts'
import type { AnyTable, Column } from '../../src/database/table.ts'
import { singlePage } from '../../src/plugin-kit/http/index.ts'
import { convertedTables, extractedTables } from '../../src/plugin-kit/raw/descendants.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import type { AnyCollectSpec } from '../../src/plugin-kit/spec/collect.ts'
import { type AnyExtractContext, type Entity, subtaskName } from '../../src/plugin-kit/spec/entity.ts'
import { valueAt } from '../../src/plugin-kit/spec/json.ts'
import { finderOf } from '../../src/plugin-kit/spec/lookups.ts'
import { wholeConnection } from '../../src/plugin-kit/spec/ownership.ts'
import type { SourceTask } from '../../src/plugin-kit/spec/plugin.ts'
import { readerOf } from '../../src/plugin-kit/transform/record-reader.ts'
import { anyTable } from './any-table.ts'

/** Columns of the domain by which rows refer to rows of another table. */
const REFERENCES: Readonly<Record<string, string>> = {
  cicd_scope_id: 'cicd_scopes',
  pipeline_id: 'cicd_pipelines',
  board_id: 'boards',
  sprint_id: 'sprints',
  issue_id: 'issues',
  pull_request_id: 'pull_requests',
  creator_id: 'accounts',
  assignee_id: 'accounts',
  author_id: 'accounts',
}

type RowsByTable = Record<string, string[]>

interface StoredRecord {
  readonly record: unknown
  readonly input: unknown
  readonly record_key: string
  readonly input_key: string
}

async function recordsOf({ database, params }: SourceTask, raw: string): Promise<StoredRecord[]> {
  const { rows } = await sql<{ data: Buffer; input: unknown; record_key: string; input_key: string }>`
    select data, input, record_key, input_key from ${sql.table(rawTable(raw).name)} where params = ${params}`.execute(
    database.kysely,
  )
  return rows.map(({ data, ...rest }) => ({ ...rest, record: parseExactBytes(data) }))
}

async function count({ kysely }: Database, table: AnyTable, condition = sql`1 = 1`): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table.name)}
    where ${condition}`.execute(kysely)
  return Number(rows[0]?.count ?? 0)
}

/** A column that names a place in the record, at which no record of the fake has anything: the place may be misspelt. */
export async function columnsWithoutValue(task: SourceTask): Promise<string[]> {
  const seen = new Map<AnyTable, Set<string>>()
  const note = (table: AnyTable, record: unknown, values: object = {}) => {
    const found = seen.get(table) ?? new Set()
    seen.set(table, found)
    for (const name of table.names) {
      const { source } = table.columns[name] as Column
      if (typeof source === 'function' || name in values || valueAt(record, source ?? name) !== undefined)
        found.add(name)
    }
  }
  for (const { table, spec } of task.plugin.entities) {
    if (!spec.raw) continue
    const records = await recordsOf(task, spec.raw)
    if (!spec.extract?.rows) for (const { record } of records) note(table, record)
    else {
      const find = finderOf({ ...task, ...task.context }, spec.extract.lookups ?? {})
      const lookups = await find(records.map(({ record }) => record))
      for (const { record, input } of records) {
        const context: AnyExtractContext = {
          ...task.context,
          lookups,
          input,
          read(of, from, values) {
            note(of, from, values)
            return readerOf(of)(from, context, values)
          },
        }
        for (const _ of spec.extract.rows(record, context));
      }
    }
  }
  return [...seen].flatMap(([table, found]) =>
    table.names
      .filter((name, position) => !found.has(name) && !isFilled(table, position))
      .map((name) => `${table.name}.${name}: no record of the fake has a value at its place`),
  )
}

const isFilled = ({ origin, createdAt, updatedAt }: AnyTable, position: number): boolean =>
  position === createdAt || position === updatedAt || (origin >= 0 && position >= origin && position < origin + 4)

/** A table into which the fake brings no row: nothing shows that the code for it is right. */
export async function tablesWithoutRows({ plugin, database }: SourceTask): Promise<string[]> {
  const made = plugin.entities.flatMap((entity) => [
    ...(entity.spec.raw ? extractedTables(entity) : []),
    ...convertedTables(entity),
  ])
  const empty: string[] = []
  for (const table of new Set(made))
    if ((await count(database, table)) === 0) empty.push(`${table.name}: no record of the fake makes a row of it`)
  return empty
}

/** Records that became fewer rows than there are: the key does not tell them apart. */
export async function mergedRecords(task: SourceTask): Promise<string[]> {
  const merged: string[] = []
  for (const { table, spec } of task.plugin.entities) {
    if (!spec.raw || spec.extract?.rows) continue
    const names = new Set((await recordsOf(task, spec.raw)).map((each) => `${each.input_key} ${each.record_key}`))
    const rows = await count(
      task.database,
      table,
      sql`_raw_data_table = ${rawTable(spec.raw).name} and _raw_data_params = ${task.params}`,
    )
    if (rows < names.size)
      merged.push(`${table.name}: ${names.size} records make ${rows} rows, so its key does not tell them apart`)
  }
  return merged
}

/** Rows in the column of the scope of which something else stands than the key of the scope. */
export async function strangersInScope(task: SourceTask): Promise<string[]> {
  const { plugin, params, database, context } = task
  const strange = new Set<string>()
  for (const entity of plugin.entities) {
    for (const table of extractedTables(entity)) {
      for (const [column, value] of Object.entries(entity.scopeWhere(table, context.scope))) {
        const other = sql`_raw_data_params = ${params} and (${sql.ref(column)} <> ${value} or ${sql.ref(column)} is null)`
        if ((await count(database, table, other)) > 0)
          strange.add(`${table.name}.${column}: not the scope that brought the row`)
      }
    }
  }
  return [...strange]
}

/** Domain rows that refer to rows that do not exist. */
export async function brokenReferences({ plugin, database }: SourceTask): Promise<string[]> {
  const written = new Map(plugin.entities.flatMap(convertedTables).map((table) => [table.name, table]))
  const broken: string[] = []
  for (const table of written.values()) {
    for (const column of table.names) {
      const target = written.get(REFERENCES[column] ?? '')
      if (!target || target === table) continue
      const id = sql.ref(column)
      const lost = sql`${id} <> '' and ${id} not in (select id from ${sql.table(target.name)})`
      if ((await count(database, table, lost)) > 0)
        broken.push(`${table.name}.${column}: refers to no row of ${target.name}`)
    }
  }
  return broken
}

/** Collectors with paging that never asked for a second page: nothing shows that they can. */
export function unpagedCollectors(task: SourceTask, requests: ReadonlyMap<string, readonly string[]>): string[] {
  return collectorsOf(task).flatMap(({ spec, name }) => {
    if ((spec.paging ?? singlePage) === singlePage) return []
    const paths = (requests.get(name) ?? []).map((address) => address.split('?')[0])
    return new Set(paths).size < paths.length ? [] : [`${name}: no list of the fake has a second page`]
  })
}

export async function receivedOf({ database }: Pick<SourceTask, 'database'>): Promise<Map<string, number>> {
  const rows = await database.kysely.selectFrom(receipts.name).select(['subtask', 'received']).execute()
  return new Map(rows.map(({ subtask, received }) => [subtask as string, Number(received)]))
}

/** Collectors that ask only for news, and yet get everything again in a second run. */
export function repeatedCollectors(
  task: SourceTask,
  first: ReadonlyMap<string, number>,
  second: ReadonlyMap<string, number>,
): string[] {
  return collectorsOf(task).flatMap(({ spec: { incremental }, name }) => {
    const isNarrow =
      incremental && ('filterBy' in incremental || ('newestFirstBy' in incremental && !incremental.lookBack))
    const before = first.get(name) ?? 0
    if (!isNarrow || before === 0 || (second.get(name) ?? 0) < before) return []
    return [
      `${name}: the second run gets all ${before} records again; either \`incremental\` is wrong, or the fake ignores it`,
    ]
  })
}

const collectorsOf = ({ plugin }: SourceTask): { readonly spec: AnyCollectSpec; readonly name: string }[] =>
  plugin.entities.flatMap((entity: Entity) =>
    entity.spec.collect ? [{ spec: entity.spec.collect, name: subtaskName(plugin.spelling, 'collect', entity) }] : [],
  )

/** Everything that a scope has brought, to see that another scope changes nothing of it. */
export async function rowsOfScope(task: SourceTask): Promise<RowsByTable> {
  const { plugin, params, database } = task
  const tablesOf = (entity: Entity) => [...extractedTables(entity), ...convertedTables(entity)]
  const shared = new Set(plugin.entities.filter((entity) => isShared(task, entity)).flatMap(tablesOf))
  const tables = new Set(plugin.entities.flatMap(tablesOf)).difference(shared)
  const found: RowsByTable = {}
  for (const table of tables) {
    if (table.origin < 0) continue
    const own = sql<SqlBool>`_raw_data_params = ${params}` as Expression<SqlBool>
    const names = table.names.filter((_, position) => !isFilled(table, position))
    const rows = await anyTable(database.kysely).selectFrom(table.name).select(names).where(own).execute()
    found[table.name] = rows.map((row) => JSON.stringify(row)).sort()
  }
  return found
}

/** Rows such as people belong to the connection: the scope that was collected last has them. */
const isShared = ({ plugin }: SourceTask, { table, spec }: Entity): boolean =>
  spec.collect?.isForAll === true ||
  spec.convert?.where === wholeConnection ||
  (plugin.referred ?? []).some((each) => each.table === table)
