import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { migrate, schemaVersions, statementsFor } from './migrate.ts'
import { openDatabase } from './open.ts'
import { readAll } from './read.ts'
import {
  bigint,
  type Columns,
  defineTable,
  gathered,
  indexed,
  integer,
  key,
  string,
  type Table,
  text,
  timestamp,
  unique,
} from './table.ts'
import { write } from './write.ts'

const first = defineTable('things', { id: key(bigint()), name: string(20), count: integer() })
const second = defineTable('things', {
  id: key(bigint()),
  name: indexed(string(200)),
  count: bigint(),
  note: text(),
  seen: timestamp(),
  code: unique(string(40)),
  home: gathered(string(40)),
})

describeEachDatabase('migrate', (test) => {
  const fresh = async () => openDatabase(await test.createDatabase())
  const pending = async (database: Awaited<ReturnType<typeof fresh>>, tables: readonly Table<Columns>[]) =>
    statementsFor(database, tables, await database.describe())

  it('makes tables once, and finds nothing to do the second time', async () => {
    const database = await fresh()
    await migrate(database, [second])
    expect(await pending(database, [second, schemaVersions])).toEqual([])
    await migrate(database, [second])
    await database.close()
  })

  it('adds columns and indexes and widens without losing rows', async () => {
    const database = await fresh()
    await migrate(database, [first])
    await write(database, [first.row({ id: 1, name: 'kept', count: 7 })])
    await sql.raw('alter table things add column x_mine varchar(10)').execute(database.kysely)
    await migrate(database, [second])
    expect(await readAll(database, { table: second })).toMatchObject([
      { id: 1, name: 'kept', count: 7, note: '', seen: null },
    ])
    await write(database, [second.row({ id: 2, name: 'n'.repeat(200), count: 9_007_199_254_740_991, code: 'c' })])
    const live = (await database.describe()).get('things')
    expect(live?.columns.get('x_mine')).toBeDefined()
    expect(live?.indexes).toContain('name')
    expect(live?.indexes).toContain('code')
    expect(live?.indexes).toContain('home')
    expect(await pending(database, [second])).toEqual([])
    await database.close()
  })

  it('makes a text of an indexed column, whose index goes or takes the beginning', async () => {
    const before = defineTable('files', { id: key(bigint()), path: indexed(string(191)), kept: indexed(string(191)) })
    const after = defineTable('files', { id: key(bigint()), path: text(), kept: indexed(text()) })
    const database = await fresh()
    await migrate(database, [before])
    await write(database, [before.row({ id: 1, path: 'short', kept: 'k' })])
    await migrate(database, [after])
    const path = 'folder/'.repeat(2000)
    await write(database, [after.row({ id: 2, path, kept: 'k' })])
    expect((await readAll(database, { table: after })).map((row) => row.path).sort()).toEqual([path, 'short'].sort())
    const { indexes } = (await database.describe()).get('files') ?? {}
    expect(indexes).toContain('kept')
    expect(indexes).not.toContain('path')
    expect(await pending(database, [after])).toEqual([])
    await database.close()
  })

  it('never narrows', async () => {
    const database = await fresh()
    await migrate(database, [second])
    expect(await pending(database, [first])).toEqual([])
    await database.close()
  })

  it('lets two connections have scope configs of one name in a database that did not', async () => {
    const columns = { id: key(bigint()), connection_id: indexed(bigint()) }
    const before = defineTable('_tool_x_scope_configs', { ...columns, name: unique(string(255)) })
    const after = defineTable('_tool_x_scope_configs', {
      ...columns,
      connection_id: indexed(unique(bigint(), 'of_connection')),
      name: unique(string(255), 'of_connection'),
    })
    const database = await fresh()
    await migrate(database, [before])
    await sql`delete from _weir_schema_versions`.execute(database.kysely)
    await write(database, [schemaVersions.row({ version: 2 }), before.row({ id: 1, connection_id: 1, name: 'rules' })])
    await migrate(database, [after])
    await write(database, [after.row({ id: 2, connection_id: 2, name: 'rules' })])
    expect(await readAll(database, { table: after })).toHaveLength(2)
    expect(await pending(database, [after])).toEqual([])
    await database.close()
  })

  it('refuses a database that a newer Weir has changed, and says what to do', async () => {
    const database = await fresh()
    await migrate(database, [first])
    await write(database, [schemaVersions.row({ version: 99 })])
    await expect(migrate(database, [second])).rejects.toThrow(
      /schema version 99, made by a newer Weir.*Install the newer Weir again/,
    )
    expect((await database.describe()).get('things')?.columns.has('note')).toBe(false)
    await database.close()
  })

  it('meets what the server still makes of a process that was killed', async () => {
    const database = await fresh()
    const { kysely } = database
    await migrate(database, [first])
    const isMysql = test.engine === 'mysql'
    const { begin, end, waiting } = isMysql
      ? {
          begin: 'lock tables things write',
          end: 'unlock tables',
          waiting: `select 1 as one from information_schema.processlist
            where db = database() and info like 'alter table%' and state like 'Waiting for table%'`,
        }
      : {
          begin: 'begin',
          end: 'commit',
          waiting: `select 1 as one from pg_stat_activity where datname = current_database()
            and query like 'alter table%' and wait_event_type = 'Lock'`,
        }
    let migrated: Promise<void> | undefined
    await database.aside((own) =>
      own.kysely.connection().execute(async (killed) => {
        await sql.raw(begin).execute(killed)
        // PostgreSQL shows the new column to others only after the commit, MySQL at once.
        if (!isMysql) await sql.raw('alter table things add column note text').execute(killed)
        migrated = migrate(database, [second])
        while ((await sql.raw(waiting).execute(kysely)).rows.length === 0) await sleep(20)
        if (isMysql) await sql.raw('alter table things add column note longtext').execute(killed)
        await sql.raw(end).execute(killed)
      }),
    )
    await migrated
    expect(await pending(database, [second])).toEqual([])
    await database.close()
  })

  it('lets servers start at once', async () => {
    const url = await test.createDatabase()
    const databases = await Promise.all(Array.from({ length: 4 }, () => openDatabase(url)))
    await Promise.all(databases.map((database) => migrate(database, [second])))
    const [database] = databases
    expect(await pending(database as (typeof databases)[number], [second])).toEqual([])
    await Promise.all(databases.map((each) => each.close()))
  })
})
