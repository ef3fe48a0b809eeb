/** One server per engine, which the blocks of a process use one after the other, each with empty tables. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { inject } from 'vitest'
import type { Database } from '../../../src/database/database.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { type LiveServer, startLiveServer } from '../../api/support/live-server.ts'
import { databasesOf, type Engine } from '../../support/servers.ts'
import { createWithTables } from '../../support/template.ts'

export interface Standing {
  readonly url: string
  readonly database: Database
  readonly server: LiveServer
}

interface Kept extends Standing {
  /** The number of rows in tables that the server fills when it starts. These rows stay. */
  readonly begun: ReadonlyMap<string, number>
  readonly columns: number
  stop(): Promise<void>
}

/** After this time without use the server is stopped, because even an idle server looks for work. */
const UNUSED_MS = 30_000
const OVER = ['TASK_COMPLETED', 'TASK_PARTIAL', 'TASK_FAILED', 'TASK_CANCELLED']

const standing = new Map<Engine, Promise<Kept>>()
const endings = new Map<Engine, NodeJS.Timeout>()

/** Returns the server in the state after its start. A block that needs settings uses its own server. */
export async function takeServer(engine: Engine): Promise<Standing> {
  clearTimeout(endings.get(engine))
  const known = await standing.get(engine)?.catch(() => undefined)
  if (known) {
    await empty(engine, known)
    return known
  }
  const started = start(engine)
  standing.set(engine, started)
  return started
}

/** Gives the server back. If the block changed more than rows, such as adding custom columns, the next block gets a new server. */
export async function leaveServer(engine: Engine): Promise<void> {
  const kept = await standing.get(engine)
  if (!kept) return
  const stop = () => {
    standing.delete(engine)
    return kept.stop()
  }
  if (await isChanged(kept)) await stop()
  else endings.set(engine, setTimeout(() => void stop(), UNUSED_MS).unref())
}

async function start(engine: Engine): Promise<Kept> {
  const administrator = inject('databaseServers')[engine] ?? ''
  const { dropDatabase } = databasesOf(engine, administrator)
  const url = await createWithTables(engine, administrator)
  const server = await startLiveServer(url)
  const database = await openDatabase(url)
  const names = await touched(engine, database)
  const counts = await Promise.all(names.map(async (name) => [name, await rowsOf(database, name)] as const))
  return {
    url,
    database,
    server,
    begun: new Map(counts),
    columns: await columnsOf(database),
    async stop() {
      await server.stop()
      await database.close()
      await dropDatabase(url)
    },
  }
}

async function isChanged({ database, begun, columns }: Kept): Promise<boolean> {
  if ((await columnsOf(database)) !== columns) return true
  for (const [name, count] of begun) if ((await rowsOf(database, name)) !== count) return true
  return false
}

async function empty(engine: Engine, { database, server, begun }: Kept): Promise<void> {
  await endRuns(server)
  const names = (await touched(engine, database)).filter((name) => !begun.has(name))
  await database.transaction(async ({ kysely }) => {
    for (const statement of EMPTYING[engine](names)) await sql.raw(statement).execute(kysely)
  })
  // Runs and their logs are numbered from the beginning again.
  rmSync(join(server.dataFolder, 'logs'), { recursive: true, force: true })
}

async function endRuns({ ask }: LiveServer): Promise<void> {
  const unfinished = async () => {
    const { pipelines } = (await ask('GET', '/pipelines?pageSize=100')).body
    return pipelines.filter(({ status }: { status: string }) => !OVER.includes(status))
  }
  for (const { id } of await unfinished()) await ask('DELETE', `/pipelines/${id}`)
  while ((await unfinished()).length > 0) await sleep(50)
}

const EMPTYING: Readonly<Record<Engine, (names: readonly string[]) => readonly string[]>> = {
  // This setting disables the triggers that protect the audit log from changes.
  postgres: (names) =>
    names.length === 0
      ? []
      : ['set local session_replication_role = replica', `truncate ${names.join(', ')} restart identity`],
  mysql: (names) => names.map((name) => `truncate table ${name}`),
}

/** Returns tables that have rows, or had some. */
async function touched(engine: Engine, database: Database): Promise<string[]> {
  const { rows } = await sql.raw<{ name: string }>(TOUCHED[engine]).execute(database.kysely)
  const names = rows.map(({ name }) => name)
  if (engine === 'postgres') return names
  // MariaDB's count of rows is only an estimate.
  const others = [...(await database.describe()).keys()].filter((name) => !names.includes(name))
  const asked = others
    .map((name) => `select '${name}' as name where exists (select 1 from ${name})`)
    .join(' union all ')
  const found = await sql.raw<{ name: string }>(asked).execute(database.kysely)
  return [...names, ...found.rows.map(({ name }) => name)]
}

const TOUCHED: Readonly<Record<Engine, string>> = {
  postgres: `select quote_ident(relname) as name from pg_class
    where relkind = 'r' and relnamespace = current_schema()::regnamespace and pg_relation_size(oid) > 0`,
  mysql: `select table_name as name from information_schema.tables
    where table_schema = database() and auto_increment > 1`,
}

async function rowsOf(database: Database, name: string): Promise<number> {
  const { rows } = await sql.raw<{ count: number }>(`select count(*) as count from ${name}`).execute(database.kysely)
  return Number(rows[0]?.count)
}

async function columnsOf(database: Database): Promise<number> {
  const live = await database.describe()
  return [...live.values()].reduce((sum, { columns }) => sum + columns.size + 1, 0)
}
