/** One function per step of the manifest. COMPARE.md of the conformance folder describes the steps. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { type RawBuilder, sql } from 'kysely'
import type { Database } from '../../src/database/database.ts'
import type { Cell, Fitter } from '../../src/database/fit.ts'
import { readAll } from '../../src/database/read.ts'
import { wholeRows } from '../../src/database/rows.ts'
import type { Column, Table } from '../../src/database/table.ts'
import { parseTime } from '../../src/database/time.ts'
import { withFields } from '../../src/plugins/customize/fields.ts'
import { plugins } from '../../src/plugins/index.ts'
import { allTables } from '../../src/tables.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { callService, dropFields } from './services.ts'

export interface Step {
  readonly op: string
  readonly [field: string]: any
}
type Dump = Record<string, unknown>[]

const tables = new Map(allTables.map((table) => [table.name, table]))
function tableNamed(name: string): Table<any> {
  const table = tables.get(name)
  if (!table) throw new Error(`there is no table ${name}`)
  return table
}

export async function emptyDatabase(database: Database): Promise<void> {
  await dropFields(database)
  await emptyTables(database, allTables)
}

export function stepRunner(database: Database, data: string) {
  const { kysely } = database
  const flush = (name: string) => sql`delete from ${sql.table(tableNamed(name).name)}`.execute(kysely)
  const operations: Record<string, (step: any) => Promise<Dump | undefined>> = {
    async load({ csv, table: name, kind, nullToken }) {
      const table = tableNamed(name)
      await flush(name)
      const records: Record<string, string>[] = parse(readFileSync(join(data, csv)), {
        columns: true,
        skip_empty_lines: true,
      })
      await insert(
        table,
        records.map((record) => (kind === 'raw' ? rawCells(table, record) : cells(table, record, nullToken))),
      )
      return undefined
    },
    async flush({ table }) {
      await flush(table)
      await dropFields(database, table)
      return undefined
    },
    async insert({ table: name, rows }) {
      const table = tableNamed(name)
      await insert(
        table,
        rows.map((row: Record<string, unknown>) => cells(table, row, undefined)),
      )
      return undefined
    },
    async env({ set }) {
      Object.assign(process.env, set)
      return undefined
    },
    async run({ plugin, subtask: name, options, context }) {
      const subtask = plugins
        .filter((each) => !plugin || each.name === plugin)
        .flatMap(({ subtasks }) => subtasks)
        .find((each) => each.name === name)
      if (!subtask) throw new Error(`${plugin} has no subtask ${name}`)
      await subtask.run({
        database,
        options: { ...context?.connection, ...context, ...options },
        fullSync: true,
        signal: new AbortController().signal,
        progress: () => {},
      })
      return undefined
    },
    async verify({ table: name, columns, emptyColumns = [], primaryKey }) {
      return dump(tableNamed(name), new Set([...primaryKey, ...columns, ...emptyColumns]))
    },
    async expect({ table: name, where = {}, whereGreater = {}, column }) {
      const table = tableNamed(name)
      const greater = Object.entries(whereGreater).map(
        ([each, least]) => sql`${sql.ref(each)} > ${valueFor(table.columns[each], least)}`,
      )
      return dump(table, new Set([...Object.keys(where), ...(column ? [column] : [])]), { where, greater })
    },
    async call(step) {
      await callService(database, data, step)
      return undefined
    },
  }

  async function insert(table: Table<any>, rows: Cell[][]) {
    if (rows.length > 0) await database.sendRows(wholeRows(table, rows), 'insert')
  }

  async function dump(
    table: Table<any>,
    columns: Set<string>,
    filter?: { where: object; greater: RawBuilder<unknown>[] },
  ): Promise<Dump> {
    const rows = await readAll(database, {
      table: [...columns].some((name) => name.startsWith('x_')) ? await withFields(database, table) : table,
      where: (filter?.where ?? {}) as Record<string, unknown>,
      isLiteral: true,
      ...(filter?.greater.length ? { condition: sql.join(filter.greater, sql` and `) } : {}),
    })
    return rows.map((row) =>
      Object.fromEntries([...columns].filter((name) => name in row).map((name) => [name, plain(row[name])])),
    )
  }

  return (step: Step & { plugin?: string }): Promise<Dump | undefined> => {
    const operation = operations[step.op]
    if (!operation) throw new Error(`unknown step ${step.op}`)
    return operation(step)
  }
}

/** Returns the cells of a loaded row. The null token, and every column that is not in the file, become NULL. */
const cells = (table: Table<any>, record: Record<string, unknown>, nullToken: string | undefined): Cell[] =>
  table.names.map((name, position) => {
    const value = record[name]
    if (value === undefined || value === null || value === nullToken) return null
    return (table.fitters[position] as Fitter)(valueFor(table.columns[name], value))
  })

const rawCells = (table: Table<any>, record: Record<string, string>): Cell[] =>
  table.names.map((name, position) => {
    if (name === 'data') return Buffer.from(record[name] ?? '')
    return (table.fitters[position] as Fitter)(valueFor(table.columns[name], record[name]))
  })

function valueFor({ kind }: Column, value: unknown): unknown {
  if (typeof value !== 'string') return value
  if (kind === 'timestamp' || kind === 'date') return parseTime(value) ?? value
  if (kind === 'json') return parsed(value)
  return value
}
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text === '' ? null : text
  }
}

const plain = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
