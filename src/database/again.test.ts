import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeAll, describe, expect, inject, it } from 'vitest'
import { anyTable } from '../../tests/support/any-table.ts'
import { cutConnections } from '../../tests/support/cut-connections.ts'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { missing, quickFolder, start } from '../../tests/support/servers.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import { openDatabase } from './open.ts'
import { wholeRows } from './rows.ts'
import { defineTable, integer, key } from './table.ts'

/** A table without a key, so that a statement that ran twice leaves two rows. */
const marks = defineTable('again_marks', { number: integer() })
const keyed = defineTable('again_keyed', { number: key(integer()), times: integer() })

const insert = (number: number) => sql`insert into again_marks (number) values (${number})`

/** All ways of sending statements to the server. Each of them leaves the mark once. */
const WAYS: Readonly<Record<string, (database: Database, number: number) => Promise<unknown>>> = {
  statement: ({ kysely }, number) => insert(number).execute(kysely),
  rows: (database, number) => database.sendRows(wholeRows(marks, [[number]]), 'insert'),
  transaction: (database, number) => database.transaction((inside) => insert(number).execute(inside.kysely)),
  'transaction of Kysely': ({ kysely }, number) =>
    kysely.transaction().execute((transaction) => insert(number).execute(transaction)),
  'few rows by their key': async (database, number) => {
    await database.sendRows(wholeRows(keyed, [[number, 1]]), 'upsert')
    await anyTable(database.kysely).insertInto('again_marks').values({ number }).execute()
  },
  'what was streamed': async (database, number) => {
    const first = anyTable(database.kysely).selectFrom('again_keyed').selectAll().stream(10)
    for await (const _ of first);
    await insert(number).execute(database.kysely)
  },
  'what was read as of one moment': async (database, number) => {
    await database.reading(60, (inside) => sql`select 1`.execute(inside.kysely))
    await insert(number).execute(database.kysely)
  },
}

const timesOf = async ({ kysely }: Database): Promise<Map<number, number>> => {
  const { rows } = await sql<{ number: number; times: number }>`
    select number, count(*) as times from again_marks group by number`.execute(kysely)
  return new Map(rows.map(({ number, times }) => [number, Number(times)]))
}

/** Opens `count` connections and leaves them idle. */
async function idle(database: Database, count: number): Promise<void> {
  const all = Promise.withResolvers<void>()
  let taken = 0
  const take = () =>
    database.transaction(async () => {
      if (++taken === count) all.resolve()
      await all.promise
    })
  await Promise.all(Array.from({ length: count }, take))
  expect(database.connections()).toEqual({ open: count, idle: count, waiting: 0 })
}

describeEachDatabase('a connection that the server ends', (test) => {
  beforeAll(() => migrate(test.database, [marks, keyed]))
  let last = 0

  it.each(Object.keys(WAYS))('while idle does not matter: %s', async (name) => {
    const database = await openDatabase(test.url, 4)
    const way = WAYS[name] as (typeof WAYS)[string]
    const done: number[] = []
    for (let round = 0; round < 25; round++) {
      await idle(database, 4)
      await cutConnections(test)
      const numbers = [1, 2, 3].map(() => ++last)
      await Promise.all(numbers.map((number) => way(database, number)))
      done.push(...numbers)
    }
    const times = await timesOf(database)
    expect(done.filter((number) => times.get(number) !== 1)).toEqual([])
    await database.close()
  })

  it('while idle leaves the pool', async () => {
    const database = await openDatabase(test.url, 4)
    await idle(database, 4)
    await cutConnections(test)
    while (database.connections().open > 0) await sleep(5)
    await insert(++last).execute(database.kysely)
    expect(database.connections()).toEqual({ open: 1, idle: 1, waiting: 0 })
    await database.close()
  })

  it('in use, at any moment: nothing is done twice, and what is answered is done', async () => {
    const database = await openDatabase(test.url, 6)
    const told = new Set<number>()
    const first = last
    let isOver = false
    const work = async (at: number) => {
      const ways = Object.values(WAYS)
      while (!isOver) {
        const number = ++last
        const way = ways[(number + at) % ways.length] as (typeof ways)[number]
        await way(database, number).then(
          () => told.add(number),
          (error) => expect(database.explain(error), String(error)).toBeDefined(),
        )
      }
    }
    const workers = Array.from({ length: 8 }, (_, at) => work(at))
    const cut = async () => {
      for (let round = 0; round < 40; round++) {
        await cutConnections(test)
        const goal = told.size + 5
        while (told.size < goal) await sleep(1)
      }
      isOver = true
    }
    await Promise.all([cut(), ...workers])
    const times = await timesOf(database)
    const numbers = Array.from({ length: last - first }, (_, index) => first + 1 + index)
    expect(numbers.filter((number) => (times.get(number) ?? 0) > 1)).toEqual([])
    expect(numbers.filter((number) => told.has(number) && !times.has(number))).toEqual([])
    await database.close()
  })

  it('within a transaction ends it, and nothing of it stays or is tried again', async () => {
    const { database } = test
    const number = ++last
    let attempts = 0
    const cut = (kysely: Database['kysely']) => async () => {
      attempts++
      await insert(number).execute(kysely)
      await cutConnections(test)
      await insert(number).execute(kysely)
    }
    await expect(database.transaction((inside) => cut(inside.kysely)())).rejects.toThrow()
    await expect(database.kysely.transaction().execute((kysely) => cut(kysely)())).rejects.toThrow()
    expect(attempts).toBe(2)
    expect((await timesOf(database)).has(number)).toBe(false)
  })
})

for (const engine of inject('engines')) {
  describe.skipIf(missing[engine]())(`a server that was restarted (${engine})`, () => {
    it('is met by no statement that fails', async () => {
      const server = await start[engine](quickFolder())
      try {
        const database = await openDatabase(await server.createDatabase(), 6)
        await migrate(database, [marks, keyed])
        let number = 0
        for (const way of Object.values(WAYS)) {
          await idle(database, 6)
          await server.restart()
          await Promise.all([way(database, ++number), way(database, ++number)])
        }
        expect([...(await timesOf(database)).values()]).toEqual(Array.from({ length: number }, () => 1))
        await database.close()
      } finally {
        await server.stop()
      }
    })
  })
}
