/**
 * Databases with all our tables and no rows. To make one takes longer than most tests: PostgreSQL copies one that is kept,
 * and on MariaDB and MySQL, which cannot, one that was used is emptied for the next.
 */
import { randomBytes } from 'node:crypto'
import mysql, { type Connection, type RowDataPacket } from 'mysql2/promise'
import { migrate, schemaVersions } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { allTables } from '../../src/tables.ts'
import { databasesOf, type Engine, runStatement } from './servers.ts'

export interface PreparedDatabases {
  take(): Promise<string>
  giveBack(url: string): Promise<void>
}

export const preparedDatabases: Record<Engine, (server: string) => PreparedDatabases> = {
  postgres: (server) => ({
    take: () => copyOfKept(server),
    giveBack: databasesOf('postgres', server).dropDatabase,
  }),
  mysql: (server) => ({ take: () => takeEmptied(server), giveBack: (url) => emptyForNext(server, url) }),
}

const KEPT = 'weir_prepared'

async function copyOfKept(server: string): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  const copy = () => runStatement.postgres(server, `create database ${name} template ${KEPT} strategy file_copy`)
  try {
    await copy()
  } catch (error) {
    if ((error as { code?: string }).code !== UNKNOWN_DATABASE) throw error
    await makeKept(server)
    await copy()
  }
  return addressOf(server, name)
}

const UNKNOWN_DATABASE = '3D000'
const NAME_IS_TAKEN = '42P04'

/** Each worker that finds none makes one; the first to finish gives it its name. */
async function makeKept(server: string): Promise<void> {
  const { createDatabase, dropDatabase } = databasesOf('postgres', server)
  const url = await createDatabase()
  await makeTables(url)
  const name = new URL(url).pathname.slice(1)
  try {
    await runStatement.postgres(server, `alter database ${name} rename to ${KEPT}`)
  } catch (error) {
    if ((error as { code?: string }).code !== NAME_IS_TAKEN) throw error
    await dropDatabase(url)
  }
}

async function makeTables(url: string): Promise<void> {
  const database = await openDatabase(url)
  try {
    await migrate(database, allTables)
  } finally {
    await database.close()
  }
}

function addressOf(server: string, name: string): string {
  const address = new URL(server)
  address.pathname = `/${name}`
  return address.href
}

/** Of this process: the shape that a new one had, and those that wait for their next use. */
const emptied: { shape?: string; waiting: string[] } = { waiting: [] }

async function takeEmptied(server: string): Promise<string> {
  const used = emptied.waiting.pop()
  if (used) return used
  const url = await databasesOf('mysql', server).createDatabase()
  await makeTables(url)
  emptied.shape ??= await connected(server, (connection) => shapeOf(connection, nameIn(url)))
  return url
}

/** What got other columns, indexes, tables or triggers is dropped: the next test must not see them. */
async function emptyForNext(server: string, url: string): Promise<void> {
  const name = nameIn(url)
  const isKept = await connected(server, async (connection) => {
    await endConnections(connection, name)
    if ((await shapeOf(connection, name)) !== emptied.shape) return false
    await emptyTables(connection, name)
    return true
  })
  if (isKept) emptied.waiting.push(url)
  else await databasesOf('mysql', server).dropDatabase(url)
}

/** Whoever still writes there, such as a server that a test forgot, must not write into the next test. */
async function endConnections(connection: Connection, name: string): Promise<void> {
  const ids = await column(connection, 'select id from information_schema.processlist where db = ?', [name])
  for (const id of ids) await connection.query('kill ?', [id]).catch(hasEndedAlready)
}

const NO_SUCH_CONNECTION = 1094
function hasEndedAlready(error: { errno?: number }): void {
  if (error.errno !== NO_SUCH_CONNECTION) throw error
}

const SHAPE = `select concat_ws('/',
  (select concat(count(*), ':', sum(crc32(concat_ws(',', table_name, column_name, ordinal_position, column_type, is_nullable, column_default, extra))))
    from information_schema.columns where table_schema = database()),
  (select concat(count(*), ':', sum(crc32(concat_ws(',', table_name, index_name, seq_in_index, column_name, sub_part))))
    from information_schema.statistics where table_schema = database()),
  (select concat(count(*), ':', sum(crc32(concat_ws(',', trigger_name, action_statement))))
    from information_schema.triggers where trigger_schema = database())) as shape`

async function shapeOf(connection: Connection, name: string): Promise<string> {
  await connection.changeUser({ database: name })
  return String((await column(connection, SHAPE))[0])
}

/** Also those that had rows and have none now: they would go on with their numbers. */
async function emptyTables(connection: Connection, name: string): Promise<void> {
  const tables = allTables.map((table) => table.name)
  const filled = await column(
    connection,
    tables.map((table) => `(select '${table}' as name from ${quoted(table)} limit 1)`).join(' union all '),
  )
  const counted = await column(
    connection,
    'select table_name from information_schema.tables where table_schema = ? and auto_increment > 1',
    [name],
  )
  const touched = new Set([...filled, ...counted].map(String))
  touched.delete(schemaVersions.name)
  for (const table of touched) await connection.query(`truncate table ${quoted(table)}`)
}

const quoted = (name: string) => `\`${name}\``
const nameIn = (url: string) => new URL(url).pathname.slice(1)

async function column(connection: Connection, statement: string, values: unknown[] = []): Promise<unknown[]> {
  const [rows] = await connection.query<RowDataPacket[][]>({ sql: statement, rowsAsArray: true, values })
  return rows.map((row) => row[0])
}

async function connected<Result>(server: string, use: (connection: Connection) => Promise<Result>): Promise<Result> {
  const connection = await mysql.createConnection(server)
  try {
    // MySQL would answer with counts of an hour ago. MariaDB does not know the setting.
    await connection.query('set session information_schema_stats_expiry = 0').catch(() => undefined)
    return await use(connection)
  } finally {
    await connection.end()
  }
}
