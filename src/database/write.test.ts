import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { anyTable } from '../../tests/support/any-table.ts'
import { describeEachDatabase } from '../../tests/support/databases.ts'
import { RecordError } from '../errors.ts'
import type { Database } from './database.ts'
import { migrate } from './migrate.ts'
import { innerJoin, leftJoin, readAll, readRows } from './read.ts'
import {
  bigint,
  boolean,
  bytes,
  common,
  date,
  defineTable,
  double,
  generated,
  integer,
  json,
  key,
  optional,
  string,
  text,
  timestamp,
  zeroTime,
} from './table.ts'
import { createWriter, update, write } from './write.ts'

const kinds = defineTable('kinds', {
  id: key(bigint()),
  name: string(5),
  note: text(),
  ratio: double(),
  maybe: optional(double()),
  flag: boolean(),
  at: timestamp(),
  since: zeroTime(timestamp()),
  day: date(),
  data: json(),
  raw: bytes(),
  ...common,
})
const log = defineTable('log', { id: key(generated(bigint())), line: text() })
const children = defineTable('children', { parent_id: key(bigint()), name: key(string(20)) })

describeEachDatabase('write and read', (test) => {
  beforeAll(() => migrate(test.database, [kinds, log, children]))
  beforeEach(async () => {
    for (const { name } of [kinds, log, children])
      await sql`delete from ${sql.table(name)}`.execute(test.database.kysely)
  })
  const all = () => readAll(test.database, { table: kinds })

  it('gives back what was written, of every kind', async () => {
    const at = new Date('2024-02-29T23:59:59.123Z')
    await write(test.database, [
      kinds.row({
        id: 9_007_199_254_740_991,
        name: 'a\\b\t',
        note: `quote ' double " line\nreturn\r tab\t back\\slash é 🌊`,
        ratio: 0.1,
        flag: true,
        at,
        day: new Date('2024-02-29'),
        data: { b: [1, null, 'x'], a: { deep: true } },
        raw: Buffer.from([0, 1, 255, 92, 39, 10]),
      }),
    ])
    expect(await all()).toEqual([
      expect.objectContaining({
        id: 9_007_199_254_740_991,
        name: 'a\\b\t',
        note: `quote ' double " line\nreturn\r tab\t back\\slash é 🌊`,
        ratio: 0.1,
        maybe: null,
        flag: true,
        at,
        since: new Date('0001-01-01T00:00:00Z'),
        day: new Date('2024-02-29T00:00:00Z'),
        data: { b: [1, null, 'x'], a: { deep: true } },
        raw: Buffer.from([0, 1, 255, 92, 39, 10]),
        _raw_data_id: 0,
        _raw_data_params: '',
      }),
    ])
  })

  it('gives back many rows with the ends of every range as it gives back one', async () => {
    const moments = ['0001-01-01', '1582-10-15', '1969-12-31', '2000-01-01', '2038-01-19', '9999-12-31']
    const texts = ['', 'x', 'é', `${'a'.repeat(70)}🌊`, 'ключ\t\\N', 'b'.repeat(3000)]
    const numbers = [0, -1, 1, 2 ** 32, -(2 ** 40) - 1, 1.5e-300]
    const rows = Array.from({ length: 120 }, (_, index) => {
      const pick = <Item>(items: readonly Item[]) => items[index % items.length] as Item
      const isNull = index % 7 === 0
      return {
        id: (index % 2 ? 1 : -1) * (2 ** 33 + index),
        name: pick(['', 'a', 'é🌊']),
        note: pick(texts),
        ratio: pick(numbers),
        maybe: isNull ? null : pick(numbers),
        flag: index % 2 === 0,
        at: isNull ? null : new Date(`${pick(moments)}T23:59:59.${String(index).padStart(3, '0')}Z`),
        day: isNull ? null : new Date(`${pick(moments)}T00:00:00Z`),
        data: isNull ? null : { text: pick(texts), list: [index] },
        raw: Buffer.alloc(index * 20, index),
      }
    })
    const inOrder = rows.toSorted((one, other) => one.id - other.id)
    const expected = inOrder.map((row) => expect.objectContaining(row))
    for (const time of ['first', 'second']) {
      await write(
        test.database,
        rows.map((row) => kinds.row(row)),
      )
      expect(await all(), time).toEqual(expected)
    }
  })

  it.each([
    ['wider', { size: integer(), name: string(5) }, { size: bigint(), name: text() }],
    // Both kinds have eight bytes. If one were read as the other, another number would be stored.
    ['other', { size: double(), name: string(5) }, { size: bigint(), name: string(5) }],
  ])('writes into %s columns than ours, as an older or another version left them', async (name, own, left) => {
    const ours = defineTable(`${name}_columns`, { id: key(bigint()), ...own })
    const live = defineTable(`${name}_columns`, { id: key(bigint()), ...left })
    await migrate(test.database, [live])
    const rows = Array.from({ length: 60 }, (_, id) => ({ id, size: id - 30, name: `n${id}` }))
    for (let time = 0; time < 2; time++) {
      await write(
        test.database,
        rows.map((row) => ours.row(row)),
      )
      expect(await readAll(test.database, { table: live })).toEqual(rows)
    }
  })

  it('gives back JSON that is a mere text', async () => {
    await write(test.database, [kinds.row({ id: 1, data: 'text' }), kinds.row({ id: 2, data: '{"not":"parsed"}' })])
    expect((await all()).map(({ data }) => data)).toEqual(['text', '{"not":"parsed"}'])
  })

  it('keeps whole numbers past 2^53 exact', async () => {
    await write(test.database, [kinds.row({ id: 9_223_372_036_854_775_807n as unknown as number, name: 'big' })])
    expect((await all())[0]?.id).toBe('9223372036854775807')
  })

  it('replaces by key, keeps when a row first came, and lets the later of two win', async () => {
    const born = new Date('2024-01-01T00:00:00Z')
    await write(test.database, [kinds.row({ id: 1, name: 'one' }), kinds.row({ id: 2, name: 'two' })], born)
    const later = new Date('2024-06-01T00:00:00Z')
    await write(test.database, [kinds.row({ id: 1, name: 'x' }), kinds.row({ id: 1, name: 'last' })], later)
    expect(await all()).toMatchObject([
      { id: 1, name: 'last', created_at: born, updated_at: later },
      { id: 2, name: 'two', updated_at: born },
    ])
  })

  it('updates rows that are there, in the columns of a narrower definition, and makes no others', async () => {
    const narrow = defineTable('kinds', {
      id: key(bigint()),
      note: optional(text()),
      ratio: optional(double()),
      at: timestamp(),
    })
    const born = new Date('2024-01-01T00:00:00Z')
    const ids = Array.from({ length: 1500 }, (_, index) => index + 1)
    await write(
      test.database,
      ids.map((id) => kinds.row({ id, name: 'kept', note: 'old', ratio: 1 })),
      born,
    )
    const at = new Date('2024-02-29T23:59:59.123Z')
    await update(test.database, [
      narrow.row({ id: 1, note: `it's 🌊 \\`, ratio: 0.1, at }),
      narrow.row({ id: 2, note: null, ratio: null }),
      narrow.row({ id: 0, note: 'ghost' }),
      ...ids.slice(2).map((id) => narrow.row({ id, note: `n${id}`, ratio: id / 7, at })),
    ])
    const rows = await readAll(test.database, { table: kinds, isLiteral: true })
    expect(rows.slice(0, 2)).toMatchObject([
      { id: 1, name: 'kept', note: `it's 🌊 \\`, ratio: 0.1, at, updated_at: born },
      { id: 2, name: 'kept', note: null, ratio: null, at: null },
    ])
    expect(rows.map(({ id }) => id)).toEqual(ids)
    expect(rows[1499]).toMatchObject({ note: 'n1500', ratio: 1500 / 7, at })
  })

  it('replaces rows by definitions with other columns, on connections that served the first', async () => {
    const wide = defineTable('kinds', { id: key(bigint()), name: string(5), note: text() })
    const narrow = defineTable('kinds', { id: key(bigint()), note: text() })
    for (const name of ['one', 'two']) await write(test.database, [wide.row({ id: 1, name, note: name })])
    await write(test.database, [narrow.row({ id: 1, note: 'three' })])
    expect(await all()).toMatchObject([{ id: 1, name: 'two', note: 'three' }])
  })

  it('numbers rows where the database does, and sends many and large ones', async () => {
    const line = 'é'.repeat(20_000)
    const writer = createWriter(test.database)
    for (let batch = 0; batch < 5; batch++) {
      await writer.add(Array.from({ length: 100 }, () => log.row({ id: null as never, line })))
    }
    await writer.flush()
    const { rows } = await sql<{
      n: number
      most: number
    }>`select count(*) as n, max(length(line)) as most from log`.execute(test.database.kysely)
    expect(rows[0]?.n).toBe(500)
    expect(await readAll(test.database, { table: log, where: { line } })).toHaveLength(500)
  })

  it('writes tables side by side, and batches of one in order', async () => {
    const writer = createWriter(test.database, { isSideBySide: true })
    const ids = Array.from({ length: 1000 }, (_, id) => id)
    for (const name of ['one', 'two', 'three', 'four']) {
      await writer.add(ids.map((id) => kinds.row({ id, name })))
      await writer.add(ids.map((parent_id) => children.row({ parent_id, name })))
    }
    await writer.flush()
    expect(new Set((await all()).map(({ name }) => name))).toEqual(new Set(['four']))
    expect(await readAll(test.database, { table: children })).toHaveLength(4000)
  })

  it('side by side, a batch that fails takes those after it along, and nothing is under way at the end', async () => {
    const writer = createWriter(test.database, { isSideBySide: true })
    const strange = defineTable('kinds', { id: key(bigint()), unheard_of: string(5) })
    const ids = Array.from({ length: 1000 }, (_, id) => id)
    await writer.add(ids.map((id) => strange.row({ id, unheard_of: 'one' })))
    await writer.add(ids.map((parent_id) => children.row({ parent_id, name: 'one' })))
    await writer.add(ids.map((id) => strange.row({ id, unheard_of: 'two' })))
    await expect(writer.add(ids.map((id) => strange.row({ id, unheard_of: 'three' })))).rejects.toThrow(/unheard_of/)
    await expect(writer.flush()).rejects.toThrow(/unheard_of/)
    expect(await readAll(test.database, { table: children })).toHaveLength(1000)
    expect(test.database.connections().waiting).toBe(0)
  })

  it('survives writers that meet on the same rows', async () => {
    const rows = (order: number) =>
      Array.from({ length: 300 }, (_, index) => kinds.row({ id: order % 2 ? index : 299 - index, name: `w${order}` }))
    await Promise.all(Array.from({ length: 8 }, (_, order) => write(test.database, rows(order))))
    expect(await all()).toHaveLength(300)
  })

  it('reads by stream with joined rows, and takes null for the value of "missing"', async () => {
    await write(test.database, [kinds.row({ id: 1, name: 'one' }), kinds.row({ id: 2, name: 'two' })])
    await write(test.database, [children.row({ parent_id: 1, name: 'x' }), children.row({ parent_id: 1, name: 'y' })])
    await sql`update kinds set name = null, flag = null where id = 2`.execute(test.database.kysely)
    const names: unknown[] = []
    for await (const row of readRows(test.database, {
      table: kinds,
      joins: { child: leftJoin(children, { parent_id: 'id' }) },
    })) {
      names.push([row.name, row.flag, row.child?.name ?? null])
    }
    expect(names.sort()).toEqual(
      [
        ['', false, null],
        ['one', false, 'x'],
        ['one', false, 'y'],
      ].sort(),
    )
    const joined = await readAll(test.database, {
      table: kinds,
      joins: { child: innerJoin(children, { parent_id: 'id' }) },
      where: { id: [1, 2] },
    })
    expect(joined.map(({ child }) => child.name).sort()).toEqual(['x', 'y'])
    expect(await readAll(test.database, { table: kinds, where: { id: 2 }, isLiteral: true })).toMatchObject([
      { name: null, flag: null },
    ])
  })

  it('takes a transaction within a transaction as a part of it, which can be undone alone', async () => {
    const { database } = test
    const namesOf = async () =>
      (await database.kysely.selectFrom(kinds.name).select('name').where('id', '>=', 900).orderBy('id').execute()).map(
        ({ name }) => name,
      )
    const undone = async () => Promise.reject(new Error('undone'))
    const put = (inside: Database, id: number, name: string) => write(inside, [kinds.row({ id, name })])
    const attempt = database.transaction(async (inside) => {
      await put(inside, 900, 'outer')
      await inside.kysely.transaction().execute(async (part) => {
        await anyTable(part).updateTable(kinds.name).set({ name: 'new' }).where('id', '=', 900).execute()
      })
      await Promise.reject(new Error('undone'))
    })
    await expect(attempt).rejects.toThrow('undone')
    expect(await namesOf()).toEqual([])
    await database.transaction(async (inside) => {
      await put(inside, 901, 'outer')
      const part = inside.transaction(async (middle) => {
        await put(middle, 902, 'middle')
        await middle.transaction((inner) => put(inner, 903, 'inner'))
        await middle.kysely
          .transaction()
          .execute(undone)
          .catch(() => {})
        await put(middle, 904, 'middle')
        await undone()
      })
      await expect(part).rejects.toThrow('undone')
      await put(inside, 905, 'outer')
    })
    expect(await namesOf()).toEqual(['outer', 'outer'])
  })
  it('commits all of a transaction or nothing', async () => {
    const attempt = test.database.transaction(async (transaction) => {
      await write(transaction, [kinds.row({ id: 1, name: 'lost' }), log.row({ id: null as never, line: 'lost' })])
      throw new Error('changed my mind')
    })
    await expect(attempt).rejects.toThrow('changed my mind')
    expect(await all()).toEqual([])
    await test.database.transaction((transaction) => write(transaction, [kinds.row({ id: 1, name: 'kept' })]))
    expect(await all()).toHaveLength(1)
  })
})

it('cuts what is too long, and refuses it in a key', () => {
  const table = defineTable('short', { id: key(string(3)), name: string(3), note: text() })
  const { cells } = table.row({ id: 'abc', name: '🌊🌊🌊🌊', note: 'n'.repeat(1_000_001) })
  expect(cells[1]).toBe('🌊🌊🌊')
  expect((cells[2] as string).length).toBe(1_000_000)
  expect(() => table.row({ id: 'abcd' })).toThrow(new RecordError('short.id: longer than 3 characters'))
  expect(() => table.row({ id: null as never })).toThrow(new RecordError('short.id: missing'))
})

it('refuses a key that one of the engines cannot hold', () => {
  const wide = { a: key(string(255)), b: key(string(255)), c: key(string(255)), d: key(string(255)) }
  expect(() => defineTable('wide', wide)).toThrow(/4080 bytes is wider than 3072/)
})
