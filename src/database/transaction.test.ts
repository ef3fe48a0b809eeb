import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../tests/support/databases.ts'

describeEachDatabase('a lock within a transaction', (test) => {
  it('is held until all of it ends', async () => {
    const { database } = test
    const order: string[] = []
    const locked = Promise.withResolvers<void>()
    const end = Promise.withResolvers<void>()
    const whole = database.transaction(async (outer) => {
      await outer.transaction((part) => part.locked('a name', async () => void order.push('locked')))
      locked.resolve()
      await end.promise
      order.push('end')
    })
    await locked.promise
    const other = database.locked('a name', async () => void order.push('other'))
    // By then the other call has opened its connection, and would have finished if it could.
    await database.aside(async (own) => sql`select 1`.execute(own.kysely))
    end.resolve()
    await whole
    await other
    expect(order).toEqual(['locked', 'end', 'other'])
  })
})
