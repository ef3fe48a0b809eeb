import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { deleteRows, findRow, insertRow, updateRows } from '../control-plane/store.ts'
import { finderOf, manyByKey, wholeTable } from '../plugin-kit/spec/lookups.ts'
import { migrate } from './migrate.ts'
import { innerJoin, readAll } from './read.ts'
import { defineTable, indexed, integer, key, named, string, text, unique } from './table.ts'
import { write } from './write.ts'

const labels = defineTable('labels', {
  issue: key(string(50)),
  name: key(string(5)),
  color: indexed(text()),
  owner_id: string(),
  shown: string(),
  note: text(),
})
const owners = defineTable('owners', { id: key(string()), alias: named(unique(string())), rank: integer() })

describeEachDatabase('text that ends in spaces', (test) => {
  beforeAll(() => migrate(test.database, [labels, owners]))
  beforeEach(async () => {
    for (const { name } of [labels, owners]) await sql`delete from ${sql.table(name)}`.execute(test.database.kysely)
  })
  const label = (name: string, values: Partial<Parameters<typeof labels.row>[0]> = {}) =>
    labels.row({ issue: 'i', name, ...values })

  it('is one key with and without them, in one batch and in several', async () => {
    await write(test.database, [label('bug', { note: 'one ' }), label('bug ', { note: 'two ', shown: 'as it is  ' })])
    expect(await readAll(test.database, { table: labels })).toMatchObject([
      { name: 'bug', note: 'two ', shown: 'as it is  ' },
    ])
    await write(test.database, [label('bug  ', { note: ' three' }), label(' bug'), label('bug\t')])
    const stored = await readAll(test.database, { table: labels })
    expect(stored).toHaveLength(3)
    const notes = Object.fromEntries(stored.map(({ name, note }) => [name, note]))
    expect(notes).toEqual({ ' bug': '', bug: ' three', 'bug\t': '' })
  })

  it('fits where it fits without them', async () => {
    await write(test.database, [label('12345   ', { color: `${'c'.repeat(599)} d`, owner_id: `${'o'.repeat(254)} p` })])
    expect(await readAll(test.database, { table: labels })).toMatchObject([
      { name: '12345', color: 'c'.repeat(599), owner_id: 'o'.repeat(254) },
    ])
    expect(() => label('123456')).toThrow(/longer than 5/)
  })

  it('is found by conditions, joins and lookups, whoever asks', async () => {
    await write(test.database, [
      label('bug ', { owner_id: 'ann ', color: 'red ' }),
      label('odd', { owner_id: 'bob', color: 'red' }),
      owners.row({ id: 'ann', alias: 'A ', rank: 1 }),
      owners.row({ id: 'bob ', alias: 'B', rank: 2 }),
    ])
    const names = async (where: Record<string, unknown>) =>
      (await readAll(test.database, { table: labels, where })).map(({ name }) => name)
    expect(await names({ name: 'bug   ' })).toEqual(['bug'])
    expect(await names({ name: ['bug ', 'odd  '], color: 'red  ' })).toEqual(['bug', 'odd'])
    const joined = await readAll(test.database, {
      table: labels,
      joins: { by: innerJoin(owners, { id: 'owner_id' }) },
      where: { 'by.alias': ['A ', 'B '] },
    })
    expect(joined.map(({ name, by }) => [name, by.rank])).toEqual([
      ['bug', 1],
      ['odd', 2],
    ])
    const find = finderOf(
      { database: test.database, connectionId: 1, scope: {} },
      { owners: wholeTable(owners, 'alias'), labels: manyByKey(labels, 'color', ({ color }) => color) },
    )
    const found = await find([{ color: 'red ' }])
    expect(found.owners.get('A  ')?.id).toBe('ann')
    expect(found.owners.has('B ')).toBe(true)
    expect(found.labels.get('red ')?.length).toBe(2)
  })

  it('is one name in settings, too', async () => {
    const { kysely } = test.database
    await insertRow(kysely, owners, { id: 'x ', alias: 'name' })
    await expect(insertRow(kysely, owners, { id: 'y', alias: 'name ' })).rejects.toThrow(/already exists/)
    expect((await findRow(kysely, owners, { alias: 'name  ' }))?.id).toBe('x')
    expect(await updateRows(kysely, owners, { id: ['x '] }, { alias: 'other ' })).toBe(1)
    expect((await findRow(kysely, owners, { id: 'x ' }))?.alias).toBe('other')
    expect(await deleteRows(kysely, owners, { id: 'x  ' })).toBe(1)
  })
})
