import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { behindFence, createFence, now } from './fence.ts'

describeEachDatabase('a fence', (test) => {
  const ask = ({ kysely }: typeof test.database) => sql`select 1 as one`.execute(kysely)

  it('refuses what stands behind it once it is shut, and nothing else', async () => {
    const fence = createFence()
    const fenced = behindFence(test.database, fence)
    fence.open(now(), 60_000)
    await expect(ask(fenced)).resolves.toBeDefined()
    fence.open(now() - 1_000_000n, 0)
    await expect(ask(fenced)).rejects.toThrow('could not reach the database')
    await expect(fenced.transaction(ask)).rejects.toThrow('could not reach the database')
    await expect(ask(test.database)).resolves.toBeDefined()
  })
})
