import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { beforeAll, expect, it } from 'vitest'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { byItself } from './held.ts'
import { migrate } from './migrate.ts'
import { defineTable, integer, key } from './table.ts'
import { write } from './write.ts'

const things = defineTable('held_things', { id: key(integer()) })
const REFUSED = /while one is held/

describeEachDatabase('a held connection', (test) => {
  beforeAll(() => migrate(test.database, [things]))
  const ask = () => sql`select 1`.execute(test.database.kysely)

  it('keeps its holder from waiting for another one', async () => {
    const { database } = test
    const further: Record<string, () => Promise<unknown>> = {
      query: ask,
      write: () => write(database, [things.row({ id: 1 })]),
      transaction: () => database.transaction(async () => {}),
      lock: () => database.locked('held', async () => {}),
      aside: () => database.aside(async () => {}),
    }
    for (const [name, body] of Object.entries(further)) {
      await expect(database.transaction(body), name).rejects.toThrow(REFUSED)
      await expect(database.kysely.transaction().execute(body), name).rejects.toThrow(REFUSED)
      await expect(database.kysely.connection().execute(body), name).rejects.toThrow(REFUSED)
    }
    await expect(database.transaction(({ aside }) => aside(async () => {}))).rejects.toThrow(REFUSED)
  })

  it('does not matter to those who use it, hold one aside, or continue by themselves', async () => {
    const { database } = test
    await database.transaction(async (inside) => {
      await write(inside, [things.row({ id: 2 })])
      await inside.transaction((part) => sql`select 1`.execute(part.kysely))
    })
    await database.locked('held', () => database.transaction(async () => {}))
    await database.aside((own) => own.transaction(ask))
    const left = await database.transaction(async () => ({ later: sleep(20).then(ask) }))
    await left.later
    const alone = Promise.withResolvers<unknown>()
    await database.transaction(async () => {
      byItself(() => ask().then(alone.resolve, alone.reject))()
      await alone.promise
    })
  })

  it('is one at a time among those who wait for the same lock', async () => {
    const { database, engine } = test
    const connections = async () => {
      const { rows } =
        engine === 'postgres'
          ? await sql<{ count: number }>`select count(*) as count from pg_stat_activity
              where datname = current_database()`.execute(database.kysely)
          : await sql<{ count: number }>`select count(*) as count from information_schema.processlist
              where db = database()`.execute(database.kysely)
      return Number(rows[0]?.count)
    }
    const before = await connections()
    const most: number[] = []
    await Promise.all(
      Array.from({ length: 30 }, () =>
        database.locked('crowd', async () => {
          most.push(await connections())
        }),
      ),
    )
    expect(most).toHaveLength(30)
    // The connection that is being closed may still be counted.
    expect(Math.max(...most)).toBeLessThanOrEqual(before + 3)
  })
})
