import { sql } from 'kysely'
import { expect, it } from 'vitest'
import { openDatabase } from '../../src/database/open.ts'
import { describeEachDatabase } from './databases.ts'

describeEachDatabase('describeEachDatabase', (test) => {
  it('gives an empty database of its own on a private server', async () => {
    expect((await test.database.describe()).size).toBe(0)
    expect(new URL(test.url).hostname).toBe('127.0.0.1')
    expect(test.database.dialect.name).toBe(test.engine)
  })

  it('gives further databases that share nothing', async () => {
    await sql`create table marks (id integer)`.execute(test.database.kysely)
    const other = await openDatabase(await test.createDatabase())
    expect((await other.describe()).size).toBe(0)
    await other.close()
  })
})
