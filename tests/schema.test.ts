/** The live schema of both engines equals DevLake's list of tables. */
import { existsSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { generatedFiles } from '../scripts/generate-docs.ts'
import type { Database } from '../src/database/database.ts'
import { ZERO_TIME } from '../src/database/fit.ts'
import { migrate } from '../src/database/migrate.ts'
import type { Column, Table } from '../src/database/table.ts'
import { write } from '../src/database/write.ts'
import { columnWords } from '../src/domain/enums.ts'
import { domainId } from '../src/domain/ids.ts'
import { domainTables } from '../src/domain/index.ts'
import { seedRows } from '../src/domain/seeds.ts'
import { plugins } from '../src/plugins/index.ts'
import { prepareDatabase } from '../src/start/prepare-database.ts'
import { systemTables } from '../src/system/index.ts'
import { allTables } from '../src/tables.ts'
import { describeEachDatabase } from './support/databases.ts'

const referenceFolder = new URL('../../shared/reference/schema/', import.meta.url)
const hasReference = existsSync(referenceFolder)
const testWithReference = test.skipIf(!hasReference)
if (!hasReference)
  test.skip('skipped: the folder ../shared with the schema of DevLake is not beside the repository', () => {})

interface ReferenceColumn {
  name: string
  type: string
  dbType?: string
  primaryKey: boolean
  nullable: boolean
  autoIncrement?: boolean
  index?: string
  missingAs?: string
}
interface ReferenceTable {
  table: string
  columns: ReferenceColumn[]
}
interface IdFormat {
  plugin: string
  format: string
  example?: string
}
const readReference = <Content>(name: string): Content =>
  JSON.parse(hasReference ? readFileSync(new URL(name, referenceFolder), 'utf8') : '[]')
/** Columns that DevLake truncates. In Weir they are text of any length, which has no index. */
const UNCUT = ['cq_issue_code_blocks.component']
const uncut = (table: string, { index, ...column }: ReferenceColumn): ReferenceColumn =>
  UNCUT.includes(`${table}.${column.name}`)
    ? { ...column, dbType: 'text' }
    : { ...column, ...(index !== undefined && { index }) }
const reference = [
  ...readReference<ReferenceTable[]>('domain-tables.json'),
  ...readReference<ReferenceTable[]>('system-tables.json'),
].map(({ table, columns }) => ({ table, columns: columns.map((column) => uncut(table, column)) }))

/** DevLake's name for each type of the engines. */
const REFERENCE_TYPES: Record<string, string> = {
  'character varying': 'string',
  varchar: 'string',
  longtext: 'text',
  integer: 'int',
  'double precision': 'float',
  double: 'float',
  boolean: 'bool',
  tinyint: 'bool',
  'timestamp with time zone': 'datetime',
  datetime: 'datetime',
  jsonb: 'json',
  bytea: 'bytes',
  longblob: 'bytes',
}

interface LiveColumn {
  table_name: string
  column_name: string
  data_type: string
  size: number | null
  precision_: number | null
  is_nullable: string
}

/** Reads the live schema, in DevLake's terms. */
async function readSchema({ kysely, dialect }: Database) {
  const schema = dialect.name === 'postgres' ? sql`current_schema()` : sql`database()`
  const columns = await sql<LiveColumn>`
    select table_name as table_name, column_name as column_name, data_type as data_type,
      character_maximum_length as size, datetime_precision as precision_, is_nullable as is_nullable
    from information_schema.columns where table_schema = ${schema}`.execute(kysely)
  const keys = await sql<{ table_name: string; column_name: string }>`
    select k.table_name as table_name, k.column_name as column_name
    from information_schema.key_column_usage k join information_schema.table_constraints c
      on c.constraint_name = k.constraint_name and c.table_name = k.table_name and c.table_schema = k.table_schema
    where c.constraint_type = 'PRIMARY KEY' and k.table_schema = ${schema}
    order by k.table_name, k.ordinal_position`.execute(kysely)
  return {
    columns: Map.groupBy(columns.rows, (column) => column.table_name),
    keys: Map.groupBy(keys.rows, (column) => column.table_name),
  }
}

function liveType({ data_type, size, precision_ }: LiveColumn): string {
  const type = REFERENCE_TYPES[data_type] ?? data_type
  return type === 'string' ? `string(${size})` : type === 'datetime' ? `datetime(${precision_})` : type
}

function expectedType({ type, dbType = type }: ReferenceColumn, live: LiveColumn | undefined): string {
  // MariaDB stores JSON as text with a check.
  if (dbType === 'json' && live?.data_type === 'longtext') return 'text'
  return dbType.replace('varbinary', 'string')
}

function expectedIndexes({ columns }: ReferenceTable): string[] {
  const marked = columns.filter(({ index }) => index !== undefined)
  const groups = Map.groupBy(marked, ({ index = '', name }) => index.split(':')[1] ?? name)
  return [...groups.values()].map((group) => group.map(({ name }) => name).join(','))
}

/** Key columns in key order. In all tables but one that is the order of the columns. */
const expectedKey = ({ table, columns }: ReferenceTable) =>
  table === 'pull_request_commits'
    ? ['pull_request_id', 'commit_sha']
    : columns.filter(({ primaryKey }) => primaryKey).map(({ name }) => name)

const MISSING: Record<string, unknown> = { "''": '', '0': 0, false: false, null: null, 'zero-time': ZERO_TIME }

const tableNamed = (name: string) => allTables.find((table) => table.name === name) as Table<any>

const KEY_VALUES: Partial<Record<Column['kind'], unknown>> = {
  string: 'k',
  bigint: 1,
  integer: 1,
  timestamp: new Date('2024-05-01T00:00:00.000Z'),
}
/** A row with only the required columns. */
function barestRow(table: Table<any>) {
  const needed = table.names.filter((name) => table.columns[name].isKey || table.columns[name].isRequired)
  return table.row(
    Object.fromEntries(needed.map((name) => [name, KEY_VALUES[table.columns[name].kind as Column['kind']]])),
  )
}

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1)

describeEachDatabase('schema', (at) => {
  const today = new Date('2024-03-31T23:59:59.999Z')
  beforeAll(() => prepareDatabase(at.database, { today }))

  testWithReference('has the tables, columns, types, keys and indexes of DevLake', async () => {
    const live = await readSchema(at.database)
    const described = await at.database.describe()
    for (const table of reference) {
      const columns = live.columns.get(table.table) ?? []
      const key = live.keys.get(table.table)?.map(({ column_name }) => column_name) ?? []
      const indexes = expectedIndexes(table).filter((index) => index !== key.join(','))
      expect({
        table: table.table,
        columns: columns
          .map((each) => ({ name: each.column_name, type: liveType(each), nullable: each.is_nullable === 'YES' }))
          .sort(byName),
        key,
        // Indexes that only Weir has, for metrics, are additional.
        indexes: indexes.filter((index) => described.get(table.table)?.indexes.has(index)),
      }).toEqual({
        table: table.table,
        columns: table.columns
          .map((each) => ({
            name: each.name,
            type: expectedType(
              each,
              columns.find(({ column_name }) => column_name === each.name),
            ),
            nullable: each.nullable,
          }))
          .sort(byName),
        key: expectedKey(table),
        indexes,
      })
    }
  })

  test('holds the seeds once, however often it is prepared', async () => {
    const read = () => at.database.kysely.selectFrom('dora_benchmarks').selectAll().orderBy('id').execute()
    const before = await read()
    await prepareDatabase(at.database, { today })
    const after = await read()
    expect(after).toHaveLength(8)
    expect(after.map(({ created_at }) => created_at)).toEqual(before.map(({ created_at }) => created_at))
    const months = await at.database.kysely.selectFrom('calendar_months').selectAll().execute()
    expect(months).toHaveLength(144)
  })

  testWithReference('holds the benchmarks of DevLake to the letter', async () => {
    const { dora_benchmarks } = readReference<{ dora_benchmarks: { rows: object[] } }>('seeds.json')
    const rows = await at.database.kysely.selectFrom('dora_benchmarks').selectAll().orderBy('id').execute()
    expect(rows).toMatchObject(dora_benchmarks.rows)
  })
})

describeEachDatabase('missing values', (at) => {
  beforeAll(() => migrate(at.database, allTables))

  testWithReference('are stored as DevLake stores them', async () => {
    const stamp = new Date('2024-05-02T03:04:05.678Z')
    const rows = reference.map(({ table }) => barestRow(tableNamed(table)))
    await write(at.database, rows, stamp)
    for (const { table, columns } of reference) {
      const row = await at.database.kysely.selectFrom(table).selectAll().executeTakeFirstOrThrow()
      for (const { name, missingAs, dbType } of columns) {
        if (missingAs === undefined) continue
        // An encrypted plan is null, because there is no empty ciphertext.
        const expected = missingAs === 'now' ? stamp : dbType === 'bytes' ? null : MISSING[missingAs]
        expect({ [`${table}.${name}`]: row[name] }).toEqual({ [`${table}.${name}`]: expected })
      }
    }
  })
})

describeEachDatabase('numbered rows', (at) => {
  beforeAll(() => migrate(at.database, allTables))

  testWithReference('are numbered where DevLake numbers them', async () => {
    const numbered = reference.filter(({ columns }) => columns.some(({ autoIncrement }) => autoIncrement))
    expect(numbered).not.toHaveLength(0)
    for (const { table } of numbered) {
      const definition = tableNamed(table)
      await write(at.database, [definition.row({}), definition.row({})])
      const rows = await at.database.kysely.selectFrom(table).select('id').orderBy('id').execute()
      expect({ table, ids: rows.map(({ id }) => id) }).toEqual({ table, ids: [1, 2] })
    }
  })
})

test('the calendar runs from 24 months back, exclusive, to ten years ahead', () => {
  const months = seedRows(new Date('2024-03-31T23:59:59.999Z')).filter(({ table }) => table.name === 'calendar_months')
  expect(months.map(({ cells }) => cells)).toHaveLength(144)
  expect(months[0]?.cells).toEqual(['22/04', new Date('2022-04-01T00:00:00.000Z')])
  expect(months.at(-1)?.cells).toEqual(['34/03', new Date('2034-03-01T00:00:00.000Z')])
})

testWithReference('there is a definition for every table of DevLake, and others bear our own name', () => {
  const defined = [...domainTables, ...systemTables]
    .map(({ name }) => name)
    .filter((name) => !name.startsWith('_weir_'))
  expect(defined.sort()).toEqual(reference.map(({ table }) => table).sort())
})

testWithReference('every domain id of DevLake can be built, and taken apart from the left', () => {
  const formats = readReference<IdFormat[]>('id-formats.json')
  const examples = formats.filter(({ format, example }) => example && /^\w+:\w+(:<[^>]+>)+$/.test(format))
  expect(examples.length).toBeGreaterThan(50)
  for (const { format, example = '' } of examples) {
    const [plugin = '', entity = '', ...parts] = format.split(':')
    const values = example.split(':').slice(2)
    const known = [...values.slice(0, parts.length - 1), values.slice(parts.length - 1).join(':')]
    expect(domainId(`${plugin}:${entity}`, ...known)).toBe(example)
  }
})

testWithReference('every plugin that is here has a table for each id prefix of DevLake', () => {
  const prefixes = new Set(allTables.map(({ idPrefix }) => idPrefix).filter((prefix) => prefix.includes(':')))
  const plugins = new Set([...prefixes].map((prefix) => prefix.split(':')[0]))
  expect(plugins.size).toBeGreaterThan(0)
  const wanted = readReference<IdFormat[]>('id-formats.json').flatMap(
    ({ format }) => format.match(/^\w+:[A-Z]\w+(?=:<connection_id>)/)?.[0] ?? [],
  )
  const missing = wanted.filter((prefix) => plugins.has(prefix.split(':')[0]) && !prefixes.has(prefix))
  expect([...new Set(missing)]).toEqual([])
})

test('words are listed for columns that exist', () => {
  for (const name of Object.keys(columnWords)) {
    const [table = '', column = ''] = name.split('.')
    expect(tableNamed(table)?.names, name).toContain(column)
  }
})

test('every source names the rights that its credentials need', () => {
  for (const { source } of plugins) {
    if (source && !source.settingsOf) expect(source.connection.rights, source.name).not.toHaveLength(0)
  }
})

test('every generated file is what `npm run docs` writes', async () => {
  for (const [file, text] of await generatedFiles()) {
    expect(readFileSync(file, 'utf8'), `${file.pathname} is not current: run npm run docs`).toBe(text)
  }
})
