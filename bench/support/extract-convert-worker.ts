/** One measured part of the benchmark; prints seconds and peak memory as JSON. */
import { once } from 'node:events'
import { createReadStream, createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import mysql2 from 'mysql2'
import pg from 'pg'
import Cursor from 'pg-cursor'
import type { Database } from '../../src/database/database.ts'
import { openDatabase } from '../../src/database/open.ts'
import { plugins } from '../../src/plugins/index.ts'
import { peakMegabytes } from '../../tests/support/peak-memory.ts'
import { PARAMS } from '../extract-convert.ts'
import { plainCopy } from './plain-copy.ts'

const SUBTASKS = ['Extract Pull Requests', 'Convert Pull Requests']
const OPTIONS = { connectionId: 1, name: 'weir/bench', githubId: 42 }
const RAW = '_raw_github_api_pull_requests'

async function product(database: Database): Promise<void> {
  const github = plugins.find(({ name }) => name === 'github')
  for (const name of SUBTASKS) {
    const subtask = github?.subtasks.find((each) => each.name === name)
    if (!subtask) throw new Error(`github has no subtask ${name}`)
    const { quarantined } = await subtask.run({
      database,
      options: OPTIONS,
      fullSync: true,
      signal: new AbortController().signal,
      progress: () => {},
    })
    if (quarantined > 0) throw new Error(`${quarantined} records in quarantine`)
  }
}

async function filledTables(database: Database): Promise<string[]> {
  const names = [...(await database.describe()).keys()].filter(
    (name) => !/^(_raw_|_devlake|_weir|dora_|calendar_|floor_)/.test(name),
  )
  const filled: string[] = []
  for (const name of names) {
    const { rows } = await sql`select 1 from ${sql.table(name)} limit 1`.execute(database.kysely)
    if (rows.length > 0) filled.push(name)
  }
  return filled
}

/** Loads into empty copies with the same keys and indexes, from files in the engine's own bulk format. */
const floors = {
  async postgres(database: Database, url: string, folder: string) {
    const tables = await filledTables(database)
    const client = new pg.Client(url)
    await client.connect()
    const load = await plainCopy(client, tables, folder)
    const started = performance.now()
    const cursor = client.query(new Cursor(`select id, data from "${RAW}" where params = $1 order by id`, [PARAMS]))
    for (let rows = await cursor.read(200); rows.length > 0; rows = await cursor.read(200)) {
      for (const { data } of rows) JSON.parse(data.toString())
    }
    await cursor.close()
    await load()
    const seconds = (performance.now() - started) / 1000
    await client.end()
    return seconds
  },
  async mysql(database: Database, url: string, folder: string) {
    const tables = await filledTables(database)
    const connection = mysql2.createConnection({ uri: url, charset: 'utf8mb4_bin', timezone: 'Z', dateStrings: true })
    const query = (statement: string, options: object = {}) =>
      new Promise<any>((resolve, reject) =>
        connection.query({ sql: statement, ...options }, (error, result) => (error ? reject(error) : resolve(result))),
      )
    for (const table of tables) {
      await query(`create table \`floor_${table}\` like \`${table}\``)
      const file = createWriteStream(join(folder, table))
      for await (const row of connection.query({ sql: `select * from \`${table}\``, rowsAsArray: true }).stream()) {
        if (!file.write(`${(row as unknown[]).map(field).join('\t')}\n`)) await once(file, 'drain')
      }
      await new Promise<void>((resolve) => file.end(() => resolve()))
    }
    const started = performance.now()
    for await (const row of connection
      .query({ sql: `select id, data from \`${RAW}\` where params = ? order by id`, values: [PARAMS] })
      .stream()) {
      JSON.parse((row as { data: Buffer }).data.toString())
    }
    for (const table of tables) {
      await query(`load data local infile '${table}' into table \`floor_${table}\` character set utf8mb4`, {
        infileStreamFactory: () => createReadStream(join(folder, table)),
      })
    }
    const seconds = (performance.now() - started) / 1000
    connection.destroy()
    return seconds
  },
}
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\0': '\\0' }
const field = (value: unknown) =>
  value === null ? '\\N' : String(value).replace(/[\\\t\n\0]/g, (each) => ESCAPES[each] as string)

const [part, url = ''] = process.argv.slice(2)
const database = await openDatabase(url)
const folder = mkdtempSync(join(tmpdir(), 'weir-bench-'))
const started = performance.now()
if (part === 'product') await product(database)
const seconds =
  part === 'product' ? (performance.now() - started) / 1000 : await floors[database.dialect.name](database, url, folder)
await database.close()
rmSync(folder, { recursive: true })
console.log(JSON.stringify({ seconds, megabytes: peakMegabytes() }))
