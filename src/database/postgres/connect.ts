/** Opens connections to PostgreSQL, and implements the database interface on them. */

import type { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'

import { UserError } from '../../errors.ts'
import { again, createTrust, LONGEST_IDLE_MS, markingBeginnings, tryingAgain } from '../again.ts'
import { type Catalogue, liveTables } from '../catalogue.ts'
import { type Database, LONGEST_SILENCE_SECONDS, LONGEST_WAIT_SECONDS } from '../database.ts'
import type { LiveTable } from '../dialect.ts'
import { exactInteger, parseExact } from '../exact-json.ts'
import { explainWith } from '../explain.ts'
import { holding, holdingOn, requireNoneHeld } from '../held.ts'
import type { AnyKysely, Schema } from '../kysely.ts'
import { inLine } from '../line.ts'
import { createTurns, inTurns, type Turns } from '../turns.ts'
import { gatherBinary } from './binary.ts'
import { EvenCursor } from './cursor.ts'
import { KINDS, postgres } from './dialect.ts'
import { copyWriter, type KnownTypes } from './send-rows.ts'
import { inTransaction, poolOf } from './transaction.ts'
import { hadNoEffect, isLost, isRetryable, TROUBLES } from './troubles.ts'

/** Sessions run in UTC, so the text always ends in +00. The parser of the driver is several times slower. */
const parseMoment = (text: string) => new Date(`${text.slice(0, 10)}T${text.slice(11, -3)}Z`)
const PARSERS: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.INT8]: (text) => (text.length < 16 ? Number(text) : exactInteger(text)),
  [pg.types.builtins.JSON]: parseExact,
  [pg.types.builtins.JSONB]: parseExact,
  [pg.types.builtins.NUMERIC]: Number,
  [pg.types.builtins.TIMESTAMPTZ]: parseMoment,
  [pg.types.builtins.DATE]: (text) => new Date(`${text}T00:00:00Z`),
}

/** Parts of a connection that the types of the driver do not expose. */
interface Inside {
  readonly connection: EventEmitter & { readonly stream: Socket }
}

function openPool(url: string, connections: number): pg.Pool {
  const trust = createTrust<pg.ClientBase>()
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    application_name: 'weir',
    idleTimeoutMillis: LONGEST_IDLE_MS,
    // The driver awaits this before the connection is used.
    onConnect(client) {
      // If a connection breaks while in use, its query fails. This event would also end the process.
      client.on('error', () => trust.lost(client))
      // The server announces the end by an error message, and closes the connection a moment later.
      insideOf(client).connection.on('errorMessage', (error) => isLost(error) && trust.lost(client))
      trust.made(client)
      return client.query(`set timezone = 'UTC'`)
    },
    types: {
      getTypeParser: (id, format) =>
        (format === 'binary' ? undefined : PARSERS[id]) ?? pg.types.getTypeParser(id, format),
    },
  })
  // A connection that breaks while idle is replaced at the next use. Without a listener it would end the process.
  pool.on('error', () => {})
  const connect = pool.connect.bind(pool) as () => Promise<pg.PoolClient>
  async function connectLive(): Promise<pg.PoolClient> {
    const client = await connect()
    if (await trust.isTrusted(client, insideOf(client).connection.stream)) return client
    client.release(true)
    return connectLive()
  }
  pool.connect = ((...parameters: [] | [Connected]) => {
    requireNoneHeld(pool)
    const [callback] = parameters
    if (!callback) return connectLive()
    connectLive().then(
      (client) => callback(undefined, client, client.release),
      (error) => callback(error, undefined, () => {}),
    )
  }) as typeof pool.connect
  const query = pool.query.bind(pool) as (...parameters: unknown[]) => Promise<unknown>
  pool.query = ((...parameters: unknown[]) => again(hadNoEffect, () => query(...parameters))) as typeof pool.query
  return pool
}

type Connected = Parameters<pg.Pool['connect']>[0]
const insideOf = (client: pg.ClientBase) => client as unknown as Inside

export async function connectPostgres(url: string, connections: number): Promise<Database> {
  const database = databaseOn(openPool(url, connections), url, new Map(), createTurns(connections))
  const version = await sql<{ version: number }>`
    select cast(current_setting('server_version_num') as integer) as version`
    .execute(database.kysely)
    .then(({ rows }) => rows[0]?.version ?? 0)
    .catch(async (error) => {
      await database.close()
      throw database.explain(error) ?? error
    })
  if (version >= 130000) return database
  await database.close()
  throw new UserError('The database server is older than PostgreSQL 13. Use PostgreSQL 13 or newer.')
}

/** Builds a database on a pool. Without `turns`, `pool` is the single connection of a transaction and belongs to the pool `whole`. */
function databaseOn(pool: pg.Pool, url: string, known: KnownTypes, turns?: Turns, whole = pool): Database {
  const open = (signal?: AbortSignal) => {
    const dialect = markingBeginnings(new PostgresDialect({ pool, cursor: EvenCursor }))
    const opened = new Kysely<Schema>({ dialect })
    return turns ? inTurns(tryingAgain(holdingOn(opened, pool), hadNoEffect, isLost), turns, signal) : opened
  }
  const kysely = open()
  const database: Database = {
    dialect: postgres,
    isTransaction: !turns,
    kysely,
    sendRows: copyWriter(pool, { dialect: postgres, known, isInside: !turns }),
    gather: gatherBinary,
    transaction: (body) =>
      inTransaction(pool, (client) =>
        holding(pool, () => body(databaseOn(poolOf(client), url, known, undefined, whole))),
      ),
    reading: (seconds, body) =>
      inTransaction(
        pool,
        async (client) => {
          await client.query(`set local statement_timeout = '${seconds}s'`)
          return holding(pool, () => body(databaseOn(poolOf(client), url, known, undefined, whole)))
        },
        'begin isolation level repeatable read read only',
      ),
    async aside(body) {
      requireNoneHeld(whole)
      const own = databaseOn(openPool(url, 1), url, known, createTurns(1))
      return body(own).finally(() => own.close())
    },
    until: (signal) => (turns ? { ...database, kysely: open(signal) } : database),
    url: () => url,
    connections: () => ({ open: whole.totalCount, idle: whole.idleCount, waiting: whole.waitingCount }),
    describe: () => describe(kysely),
    async locked(name, body) {
      if (turns)
        return inLine(whole, name, () =>
          database.aside((own) =>
            own.kysely.connection().execute(async (connection) => {
              // The lock ends with its connection.
              await sql`select pg_advisory_lock(hashtext(${name}))`.execute(connection)
              return body()
            }),
          ),
        )
      await sql`select pg_advisory_xact_lock(hashtext(${name}))`.execute(kysely)
      return body()
    },
    lockedBriefly: (name, body) =>
      database.aside((own) =>
        own.transaction(async (inside) => {
          await sql
            .raw(`set local idle_in_transaction_session_timeout = '${LONGEST_SILENCE_SECONDS}s'`)
            .execute(inside.kysely)
          await sql.raw(`set local lock_timeout = '${LONGEST_WAIT_SECONDS}s'`).execute(inside.kysely)
          await sql`select pg_advisory_xact_lock(hashtext(${name}))`.execute(inside.kysely)
          return body(inside)
        }),
      ),
    // In a failed transaction no statement can be repeated.
    isRetryable: turns ? isRetryable : () => false,
    explain: explainWith(TROUBLES, url, 5432),
    async close() {
      turns?.close()
      await kysely.destroy()
    },
  }
  return database
}

/** Reads the system catalogue directly: the views of `information_schema` take ten times as long, at every start. */
async function describe(kysely: AnyKysely): Promise<Map<string, LiveTable>> {
  const columns = await sql<Catalogue['columns'][number]>`
    select c.relname as table_name, a.attname as column_name, format_type(a.atttypid, null) as type,
      case when a.atttypid in ('varchar'::regtype, 'bpchar'::regtype) and a.atttypmod > 4 then a.atttypmod - 4 end as size
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p', 'v', 'f')`.execute(kysely)
  const indexes = await sql<Catalogue['indexes'][number]>`
    select t.relname as table_name, string_agg(a.attname, ',' order by k.n) as columns
    from pg_index i
    join pg_class t on t.oid = i.indrelid and t.relnamespace = current_schema()::regnamespace
    cross join lateral unnest(i.indkey) with ordinality as k(attribute, n)
    join pg_attribute a on a.attrelid = t.oid and a.attnum = k.attribute
    group by t.relname, i.indexrelid`.execute(kysely)
  return liveTables({ columns: columns.rows, indexes: indexes.rows }, KINDS)
}
