import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { anyTable } from '../../tests/support/any-table.ts'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import type { Database } from './database.ts'
import { openDatabase } from './open.ts'
import { createTurns } from './turns.ts'

const CONNECTIONS = 5
const STREAMS_AT_ONCE = 3
const ROWS = 20

describeEachDatabase('streams of a small pool', (test) => {
  let database: Database
  beforeAll(async () => {
    database = await openDatabase(test.url, CONNECTIONS)
    await sql`create table numbers (number int)`.execute(database.kysely)
    const values = Array.from({ length: ROWS }, (_, number) => ({ number }))
    await anyTable(database.kysely).insertInto('numbers').values(values).execute()
  })
  afterAll(() => database.close())

  const numbers = ({ kysely }: Database) =>
    anyTable(kysely).selectFrom('numbers').selectAll().orderBy('number').stream(2)[Symbol.asyncIterator]()
  /** Opens as many streams as allowed. Returns the function that ends them. */
  async function holdAll(from: Database): Promise<() => Promise<void>> {
    const held = Array.from({ length: STREAMS_AT_ONCE }, () => numbers(from))
    await Promise.all(held.map((each) => each.next()))
    return async () => {
      await Promise.all(held.map((each) => each.return?.()))
    }
  }

  it('leave connections for whoever reads one and needs another', async () => {
    const readers = Array.from({ length: 64 }, async () => {
      let sum = 0
      for await (const { number } of anyTable(database.kysely).selectFrom('numbers').selectAll().stream(2)) {
        const { rows } = await sql<{
          same: number
        }>`select number as same from numbers where number = ${number}`.execute(database.kysely)
        await database.transaction(({ kysely }) => sql`select 1`.execute(kysely))
        sum += rows[0]?.same ?? 0
      }
      return sum
    })
    expect(new Set(await Promise.all(readers))).toEqual(new Set([(ROWS * (ROWS - 1)) / 2]))
  })

  it('are not waited for when the work is cancelled', async () => {
    const free = await holdAll(database)
    const abort = new AbortController()
    const cancelled = numbers(database.until(abort.signal)).next()
    const later = numbers(database)
    const next = later.next()
    abort.abort(new Error('cancelled'))
    await expect(cancelled).rejects.toThrow('cancelled')
    await free()
    expect((await next).value).toEqual({ number: 0 })
    await later.return?.()
  })

  it('are not waited for when the database is closed', async () => {
    const own = await openDatabase(test.url, CONNECTIONS)
    const free = await holdAll(own)
    const waiting = numbers(own).next()
    const refused = expect(waiting).rejects.toThrow('closed')
    const closing = own.close()
    await refused
    await free()
    await closing
    await expect(numbers(own).next()).rejects.toThrow('closed')
  })

  it('need no turn inside a transaction, which has its connection', async () => {
    const free = await holdAll(database)
    const found = await database.transaction(async ({ kysely }) => {
      const rows: unknown[] = []
      for await (const row of anyTable(kysely).selectFrom('numbers').selectAll().stream(2)) rows.push(row)
      return rows.length
    })
    expect(found).toBe(ROWS)
    await free()
  })

  it('leave locks and what is held aside alone: they have connections of their own', async () => {
    const order: string[] = []
    const all = Array.from({ length: 3 * CONNECTIONS }, (_, lock) =>
      database.locked(`lock ${lock}`, async () => {
        await sleep(20)
        await sql`select 1`.execute(database.kysely)
        order.push('locked')
      }),
    )
    const aside = Array.from({ length: 3 * CONNECTIONS }, () =>
      database.aside((own) =>
        own.transaction(async (inside) => {
          await sql`select 1`.execute(inside.kysely)
          await sleep(20)
          await sql`select 1`.execute(database.kysely)
          order.push('aside')
        }),
      ),
    )
    await Promise.all([...all, ...aside])
    expect(order).toHaveLength(6 * CONNECTIONS)
  })

  it('let one at a time in by a lock of one name', async () => {
    let inside = 0
    const most: number[] = []
    await Promise.all(
      Array.from({ length: 4 }, () =>
        database.locked('one', async () => {
          most.push(++inside)
          await sleep(20)
          inside--
        }),
      ),
    )
    expect(most).toEqual([1, 1, 1, 1])
  })
})

describe('turns', () => {
  it('are given in the order in which they were asked for, and end once', async () => {
    const turns = createTurns(STREAMS_AT_ONCE)
    const end = await turns.take()
    const order: number[] = []
    const waiting = [1, 2, 3].map(async (name) => {
      const endOwn = await turns.take()
      order.push(name)
      endOwn()
      endOwn()
    })
    end()
    await Promise.all(waiting)
    expect(order).toEqual([1, 2, 3])
    const last = await turns.take()
    let isGiven = false
    const further = turns.take().then((endFurther) => {
      isGiven = true
      endFurther()
    })
    await sleep(10)
    expect(isGiven).toBe(false)
    last()
    await further
  })
})
