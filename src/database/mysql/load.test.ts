import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { runStatement, startTestMariadb, type TestServer } from '../../../tests/support/servers.ts'
import type { Database } from '../database.ts'
import { migrate } from '../migrate.ts'
import { openDatabase } from '../open.ts'
import { readAll } from '../read.ts'
import { bigint, boolean, date, defineTable, double, key, optional, string, text, timestamp } from '../table.ts'
import { write } from '../write.ts'

const things = defineTable('things', {
  id: key(bigint()),
  name: string(5),
  note: optional(text()),
  ratio: double(),
  flag: boolean(),
  at: timestamp(),
  day: date(),
})
const COUNT = 200
const row = (id: number, name = 'a') =>
  things.row({
    id,
    name,
    note: id % 3 === 0 ? null : `tab\t line\n return\r back\\slash quote' \\N é 🌊 ${id}`,
    ratio: id / 7,
    flag: id % 2 === 0,
    at: new Date(Date.UTC(1999, 11, 31, 23, 59, 59, 999) + id * 3_600_001),
    day: new Date(Date.UTC(2024, 1, 28 + (id % 3))),
  })
const all = Array.from({ length: COUNT }, (_, id) => row(id))

let server: TestServer
let url: string
beforeAll(async () => {
  server = await startTestMariadb()
  // MySQL does not allow loading unless configured.
  await runStatement.mysql(server.url, 'set global local_infile = 1')
  url = await server.createDatabase()
})
afterAll(() => server.stop())

// Each test opens its own database, because what is known about a table, such as that it has rows, is kept per open database.
let database: Database
beforeEach(async () => {
  database = await openDatabase(url)
  await migrate(database, [things])
  await sql`delete from things`.execute(database.kysely)
})
afterEach(() => database.close())

/** The number of such statements that the server has executed. */
async function count(command: 'load' | 'insert'): Promise<number> {
  const name = `Com_${command}`
  const { rows } = await sql<{ Value: string }>`show global status like ${name}`.execute(database.kysely)
  return Number(rows[0]?.Value)
}
async function statements(body: () => Promise<unknown>): Promise<{ load: number; insert: number }> {
  const before = { load: await count('load'), insert: await count('insert') }
  await body()
  return { load: (await count('load')) - before.load, insert: (await count('insert')) - before.insert }
}
const stored = () => readAll(database, { table: things })

it('loads new rows as they would be inserted, and writes over those that exist', async () => {
  expect(await statements(() => write(database, all))).toEqual({ load: 1, insert: 0 })
  const loaded = await stored()
  expect(loaded).toHaveLength(COUNT)
  await sql`delete from things`.execute(database.kysely)
  for (const each of all) await write(database, [each])
  expect(await stored()).toEqual(loaded)

  const again = all.map((_, id) => row(id, 'b'))
  expect(await statements(() => write(database, again))).toEqual({ load: 1, insert: 1 })
  expect(new Set((await stored()).map(({ name }) => name))).toEqual(new Set(['b']))
  expect(await statements(() => write(database, again))).toEqual({ load: 0, insert: 1 })
})

it('does not store a value that the live column has no room for', async () => {
  await sql`alter table things modify name varchar(1)`.execute(database.kysely)
  await expect(write(database, [...all, row(COUNT, 'long')])).rejects.toThrow(/name/)
  await sql`alter table things modify name varchar(5)`.execute(database.kysely)
})

it('inserts where the server allows no loading', async () => {
  await sql`set global local_infile = 0`.execute(database.kysely)
  expect(await statements(() => write(database, all))).toMatchObject({ insert: 1 })
  expect(await statements(() => write(database, all))).toMatchObject({ load: 0, insert: 1 })
  expect(await stored()).toHaveLength(COUNT)
})
