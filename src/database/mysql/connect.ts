/** Opens connections to MySQL and MariaDB, and implements the database interface on them. */

import type { Socket } from 'node:net'
import { Kysely, MysqlDialect, sql } from 'kysely'
import mysql2, { type Pool, type PoolConnection } from 'mysql2'
import { UserError } from '../../errors.ts'
import { createTrust, LONGEST_IDLE_MS, markingBeginnings, tryingAgain } from '../again.ts'
import { type Catalogue, liveTables } from '../catalogue.ts'
import { type Database, LONGEST_SILENCE_SECONDS, LONGEST_WAIT_SECONDS, type PoolState } from '../database.ts'
import type { LiveTable } from '../dialect.ts'
import { exactInteger, parseExact } from '../exact-json.ts'
import { explainWith, rowTooLarge } from '../explain.ts'
import { holding, holdingOn, requireNoneHeld } from '../held.ts'
import type { AnyKysely, Schema } from '../kysely.ts'
import { inLine } from '../line.ts'
import { gatherCells } from '../rows.ts'
import { createTurns, inTurns, type Turns } from '../turns.ts'
import { KINDS, mysql } from './dialect.ts'
import { type Loading, loadWriter } from './load.ts'
import { insertWriter, type StatementSize } from './send-rows.ts'
import { tellStreams, withinServer } from './streams.ts'
import { inTransaction, type Pooled } from './transaction.ts'
import { hadNoEffect, isLost, isRetryable, TROUBLES } from './troubles.ts'

/** Longer statements are not faster. */
const LONGEST_STATEMENT = 4 << 20
/** Room in a packet for what is sent along with a statement. */
const PACKET_MARGIN = 1024

const SESSION = [
  `time_zone = '+00:00'`,
  `sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION'`,
  // A reader that streams a table may pause longer than the default minute while its batch is written.
  'net_write_timeout = 3600',
  // With the gap locks of the default level, parallel writers of one table wait for each other, or deadlock. It is not set by
  // variable, because servers name that variable differently, and a second try would come after the first transaction has begun.
  'transaction isolation level read committed',
]

function openPool(url: string, connectionLimit: number): Pool {
  const { hostname, port, username, password, pathname, searchParams } = new URL(url)
  const pool = mysql2.createPool({
    host: hostname || 'localhost',
    port: Number(port || 3306),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    database: decodeURIComponent(pathname.slice(1)),
    ...(searchParams.has('ssl') ? { ssl: { rejectUnauthorized: searchParams.get('ssl') !== 'insecure' } } : {}),
    connectionLimit,
    // Connections that leave the pool also say goodbye to the server.
    gracefulEnd: true,
    charset: 'utf8mb4_bin',
    timezone: 'Z',
    flags: ['-IGNORE_SPACE'],
    supportBigNumbers: true,
    decimalNumbers: true,
    typeCast(field, next) {
      if (field.type === 'TINY' && field.length === 1) {
        const value = field.string()
        return value === null ? null : value !== '0'
      }
      if (field.type === 'LONGLONG') {
        const value = field.string()
        return value === null ? null : exactInteger(value)
      }
      // MariaDB has no JSON type, only a format.
      if (field.type === 'JSON' || field.extendedFormat === 'json') {
        // The driver would print a warning for each value read as text.
        const value = field.buffer()
        return value === null ? null : parseExact(value.toString())
      }
      // The parser of the driver reads year 1 as 2001.
      if (field.type === 'DATETIME' || field.type === 'DATE') {
        const value = field.string()
        return value === null ? null : new Date(`${value.slice(0, 10)}T${value.slice(11) || '00:00:00'}Z`)
      }
      return next()
    },
  })
  const trust = createTrust<PoolConnection>()
  const idleSince = new WeakMap<PoolConnection, number>()
  async function isLive(connection: PoolConnection): Promise<boolean> {
    const idleMs = Date.now() - (idleSince.get(connection) ?? Date.now())
    // From now on it may be passed directly from user to user, without an idle time in between.
    idleSince.delete(connection)
    return idleMs < LONGEST_IDLE_MS && trust.isTrusted(connection, socketOf(connection))
  }
  const getConnection = pool.getConnection.bind(pool)
  pool.getConnection = (callback) => {
    requireNoneHeld(pool)
    const getLive = () =>
      getConnection(async (error, connection) => {
        if (error || (await isLive(connection))) return callback(error, connection)
        connection.end()
        getLive()
      })
    getLive()
  }
  pool.on('release', (connection: PoolConnection) => idleSince.set(connection, Date.now()))
  pool.on('connection', (connection: PoolConnection) => {
    // If a connection breaks while in use, its query fails. A second error event would end the process.
    connection.on('error', () => trust.lost(connection))
    trust.made(connection)
    tellStreams(connection)
    // Errors are ignored, because the first statement after these fails with the same error.
    for (const setting of SESSION) connection.query(`set session ${setting}`, () => {})
  })
  return pool
}

const socketOf = (connection: PoolConnection) => (connection as unknown as { readonly stream: Socket }).stream

export async function connectMysql(url: string, connections: number): Promise<Database> {
  const pool = openPool(url, connections)
  const end = () => new Promise<void>((resolve) => pool.end(() => resolve()))
  const { version, packet } = await pool
    .promise()
    .query('select version() as version, @@max_allowed_packet as packet')
    .then(([rows]) => (rows as { version: string; packet: number }[])[0] ?? { version: '', packet: 0 })
    .catch(async (error) => {
      await end()
      throw explainWith(TROUBLES, url, 3306)(error) ?? error
    })
  const isMariadb = /mariadb/i.test(version)
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (isMariadb ? major * 100 + minor < 1011 : major < 8) {
    await end()
    throw new UserError(`The database server is version ${version}. Use MySQL 8 or MariaDB 10.11, or newer.`)
  }
  const most = packet - PACKET_MARGIN
  const allowed: StatementSize = {
    most,
    enough: Math.min(LONGEST_STATEMENT, most),
    tooLarge: (table, bytes) => rowTooLarge({ table, bytes, most: packet }),
  }
  const loading: Loading = { isAllowed: true, pessimistic: new Map() }
  return databaseOn(pool, { url, isMariadb, allowed, loading }, createTurns(connections))
}

interface Settings {
  readonly url: string
  readonly isMariadb: boolean
  readonly allowed: StatementSize
  readonly loading: Loading
}

/** Builds a database on a pool. Without `turns`, `pool` is the single connection of a transaction and belongs to the pool `whole`. */
function databaseOn(pool: Pooled, settings: Settings, turns?: Turns, whole = pool): Database {
  const open = (signal?: AbortSignal) => {
    const dialect = markingBeginnings(withinServer(new MysqlDialect({ pool: pool as Pool }), settings.allowed))
    const opened = new Kysely<Schema>({ dialect })
    return turns ? inTurns(tryingAgain(holdingOn(opened, pool), hadNoEffect, isLost), turns, signal) : opened
  }
  const kysely = open()
  const database: Database = {
    dialect: mysql,
    isTransaction: !turns,
    kysely,
    sendRows: loadWriter(pool, mysql, settings.loading, insertWriter(pool, mysql, settings.allowed)),
    gather: gatherCells,
    transaction: (body) =>
      inTransaction(pool, (own, atEnd) => {
        const inside = insideTransaction(databaseOn(own, settings, undefined, whole), atEnd)
        return holding(pool, () => body(inside))
      }),
    reading: (seconds, body) =>
      inTransaction(
        pool,
        async (own, atEnd) => {
          const inside = databaseOn(own, settings, undefined, whole)
          atEnd(limitOf(settings, 0))
          await sql.raw(limitOf(settings, seconds)).execute(inside.kysely)
          return holding(pool, () => body(inside))
        },
        ['set transaction isolation level repeatable read', 'start transaction with consistent snapshot, read only'],
      ),
    async aside(body) {
      requireNoneHeld(whole)
      const own = databaseOn(openPool(settings.url, 1), settings, createTurns(1))
      return body(own).finally(() => own.close())
    },
    until: (signal) => (turns ? { ...database, kysely: open(signal) } : database),
    url: () => settings.url,
    connections: () => poolState(whole),
    describe: () => describe(kysely),
    locked: (name, body) =>
      inLine(whole, name, () =>
        database.aside((own) =>
          own.kysely.connection().execute(async (connection) => {
            await takeLock(connection, name)
            return body()
          }),
        ),
      ),
    lockedBriefly: (name, body) =>
      database.aside((own) =>
        own.transaction(async (inside) => {
          await sql.raw(`set session wait_timeout = ${LONGEST_SILENCE_SECONDS}`).execute(inside.kysely)
          await takeLock(inside.kysely, name, LONGEST_WAIT_SECONDS)
          return body(inside)
        }),
      ),
    isRetryable,
    explain: explainWith(TROUBLES, settings.url, 3306),
    close() {
      turns?.close()
      // Kysely does not close a pool that it has not used, so this is done directly.
      return new Promise((resolve) => pool.end(() => resolve()))
    },
  }
  return database
}

/** Builds the database for use inside a transaction. `atEnd` registers statements to run after the transaction. */
function insideTransaction(database: Database, atEnd: (statement: string) => void): Database {
  const inside: Database = {
    ...database,
    transaction: (body) => database.transaction((part) => body({ ...part, locked: inside.locked })),
    until: () => inside,
    async locked(name, body) {
      atEnd('do release_all_locks()')
      await takeLock(database.kysely, name)
      return body()
    },
    // A deadlock rolls back the whole transaction. Repeating its last statement would keep only that one.
    isRetryable: () => false,
  }
  return inside
}

/** The driver keeps these counts in private fields only. */
function poolState(pool: unknown): PoolState {
  const { _allConnections, _freeConnections, _connectionQueue } = pool as Record<string, { length: number } | undefined>
  const count = (list: { length: number } | undefined) => list?.length ?? 0
  return { open: count(_allConnections), idle: count(_freeConnections), waiting: count(_connectionQueue) }
}

/** Sets how long a statement may take; 0 means no limit. */
const limitOf = ({ isMariadb }: Settings, seconds: number) =>
  isMariadb
    ? `set session max_statement_time = ${seconds}`
    : `set session max_execution_time = ${Math.round(seconds * 1000)}`

const A_DAY = 86_400

/** Takes a lock, which ends with its connection. Lock names are global for the server, and have at most 64 characters. */
async function takeLock(queries: AnyKysely, name: string, seconds = A_DAY): Promise<void> {
  const lock = sql`concat('weir.', left(sha2(concat(database(), ${name}), 256), 40))`
  const { rows } = await sql<{ taken: number }>`select get_lock(${lock}, ${seconds}) as taken`.execute(queries)
  if (rows[0]?.taken !== 1) {
    throw Object.assign(new Error(`the lock ${name} was not free in time`), { code: 'ER_LOCK_WAIT_TIMEOUT' })
  }
}

async function describe(kysely: AnyKysely): Promise<Map<string, LiveTable>> {
  const columns = await sql<Catalogue['columns'][number]>`
    select table_name as table_name, column_name as column_name, data_type as type,
      case when data_type = 'varchar' then character_maximum_length end as size
    from information_schema.columns where table_schema = database()`.execute(kysely)
  const indexes = await sql<Catalogue['indexes'][number]>`
    select table_name as table_name, group_concat(column_name order by seq_in_index separator ',') as columns
    from information_schema.statistics where table_schema = database() group by table_name, index_name`.execute(kysely)
  return liveTables({ columns: columns.rows, indexes: indexes.rows }, KINDS)
}
