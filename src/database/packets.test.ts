import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { runStatement, startTestMariadb, type TestServer } from '../../tests/support/servers.ts'
import { issues } from '../domain/ticket.ts'
import { UserError } from '../errors.ts'
import { rawTable } from '../plugin-kit/raw/raw-table.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import { openDatabase } from './open.ts'
import { readAll } from './read.ts'
import { update, write } from './write.ts'

const raw = rawTable('packets')
const record = (bytes: number) =>
  raw.row({ id: null as never, params: 'p', data: Buffer.from(JSON.stringify({ id: 1, steps: 'y'.repeat(bytes) })) })
const failureOf = (attempt: Promise<unknown>) => attempt.then(() => undefined).catch((error: unknown) => error)

describeEachDatabase('a record of 17 MB', (test) => {
  it('is stored, or refused with the setting to change', async () => {
    await migrate(test.database, [raw])
    const failure = await failureOf(write(test.database, [record(100), record(17 << 20), record(200)]))
    // Later writes work on the existing connection.
    await write(test.database, [record(300)])
    if (test.engine === 'postgres') return expect(failure).toBeUndefined()
    expect(failure).toBeInstanceOf(UserError)
    expect((failure as Error).message).toMatch(
      /^A row of _raw_packets has 17\.0 MB, and the database takes 16\.0 MB at once\. Raise its max_allowed_packet, to 32M for example/,
    )
  })
})

describe.skipIf(!inject('databaseServers').mysql)('a server that takes little at once', () => {
  let server: TestServer
  beforeAll(async () => {
    server = await startTestMariadb()
  }, 60_000)
  afterAll(() => server?.stop())

  async function opened<Result>(packet: number, body: (database: Database) => Promise<Result>): Promise<Result> {
    await runStatement.mysql(server.url, `set global max_allowed_packet = ${packet}`)
    const database = await openDatabase(await server.createDatabase())
    try {
      await migrate(database, [issues, raw])
      return await body(database)
    } finally {
      await database.close()
    }
  }

  it('gets statements that fit', () =>
    opened(1 << 20, async (database) => {
      const rows = (letter: string) =>
        Array.from({ length: 400 }, (_, n) => issues.row({ id: `i${n}`, description: letter.repeat(4200) }))
      await write(database, rows('x'))
      await write(database, rows('é'))
      await update(database, rows("'"))
      const { rows: counted } = await sql<{ count: number }>`
        select count(*) as count from issues where description like '''%'`.execute(database.kysely)
      expect(counted[0]?.count).toBe(400)
    }))

  it('a row just below the limit is stored, one above it named', () =>
    opened(1 << 20, async (database) => {
      await write(database, [record((1 << 20) - 2000)])
      expect(await readAll(database, { table: raw })).toHaveLength(1)
      const failure = await failureOf(write(database, [record(1 << 20)]))
      expect(failure).toBeInstanceOf(UserError)
      expect((failure as Error).message).toMatch(/takes 1\.0 MB at once\. Raise its max_allowed_packet, to 4M/)
    }))

  it('a statement of its own that is too long is refused, within a transaction too, and the connection stays', () =>
    opened(1 << 20, async ({ kysely }) => {
      const quotes = "'".repeat(600_000)
      for (const long of [Buffer.alloc(600_000), 'é'.repeat(600_000), quotes]) {
        const asked = (own: typeof kysely) => sql<{ length: number }>`select length(${long}) as length`.execute(own)
        const refused = /^It has 1\.1 MB, and the database takes 1\.0 MB at once\. Raise its max_allowed_packet, to 4M/
        await expect(asked(kysely)).rejects.toThrow(refused)
        await kysely.transaction().execute(async (own) => {
          await expect(asked(own)).rejects.toThrow(refused)
          const { rows } = await sql<{ one: number }>`select 1 as one`.execute(own)
          expect(rows).toEqual([{ one: 1 }])
        })
      }
    }))
})
