import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openCsv } from './csv.ts'
import { toCsv, unescaped } from './csv-text.ts'

async function read(text: string | Buffer, textOf?: (cell: string) => string) {
  const { header, records } = await openCsv('f.csv', Buffer.from(text), textOf)
  const all = await Array.fromAsync(records)
  return { header, lines: all.map(({ line }) => line), rows: all.map(({ cells }) => Object.values(cells)) }
}

it('counts lines as editors do, whatever ends them', async () => {
  for (const end of ['\n', '\r\n', '\r']) {
    const text = ['id, name', '1,"a', 'b"', '', '', '2,c', ',', '3,"d,""e"""'].join(end)
    expect(await read(text)).toEqual({
      header: ['id', 'name'],
      lines: [2, 6, 8],
      rows: [
        ['1', `a${end}b`],
        ['2', 'c'],
        ['3', 'd,"e"'],
      ],
    })
  }
})

it('reads files of many pieces, with a byte order mark, cut inside characters', async () => {
  const cell = '🌊é'.repeat(7)
  const count = 5000
  const { lines, rows } = await read(
    `\ufeffid,text\n${Array.from({ length: count }, (_, id) => `${id},${cell}\n`).join('')}`,
  )
  expect(lines).toEqual(Array.from({ length: count }, (_, index) => index + 2))
  expect(rows.every(([id, text], index) => id === String(index) && text === cell)).toBe(true)
})

it('tells where a record begins that never ends', async () => {
  const text = `a,b\n${'1,"x\r\ny"\n'.repeat(20_000)}2,"open\n3,4\n`
  await expect(read(text)).rejects.toThrow('f.csv, line 40002: a quote is opened and never closed')
})

it('refuses more columns than any table has, and records without end, without looking at each', async () => {
  const columns = Array.from({ length: 150_000 }, (_, index) => `c${index}`).join(',')
  const line = (cells: number) => Array.from({ length: cells }, (_, index) => `c${index}`).join(',')
  expect((await read(`${line(1000)}\n`)).header).toHaveLength(1000)
  await expect(read(`${line(1001)}\n`)).rejects.toThrow('f.csv, line 1: it has more than 1000 cells')
  await expect(read(`${columns}\n`)).rejects.toThrow('f.csv, line 1: it has more than 1000 cells')
  await expect(read(`a\n"${'x'.repeat(4_100_000)}"\n`)).rejects.toThrow('f.csv, line 2: it is too long for one record')
})

it('refuses a record with fewer or more cells than the first line has', async () => {
  for (const record of ['1', '1,2,3']) {
    await expect(read(`a,b\n${record}\n`)).rejects.toThrow(
      /^f\.csv, line 2: it has \d cells?, the first line has 2: put/,
    )
  }
})

it('gives back what was written, whatever it is', async () => {
  const cell = fc.oneof(
    fc.string({ unit: 'binary' }).map((text) => text.replaceAll('\0', '')),
    fc.constantFrom('=1', "'=1", "''-x", '-5', '+', '@a', '"', '\r\n', 'NULL'),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(cell, cell), { minLength: 1 }), async (table) => {
      // An empty line is not a record, and half a surrogate pair is not valid text.
      const rows = table.map((pair) => ['x', ...pair.map((each) => each.toWellFormed())])
      const names = ['key', 'one', 'other']
      const text = toCsv(
        names,
        rows.map(([key, one, other]) => ({ key, one, other })),
      )
      expect((await read(text, unescaped)).rows).toEqual(rows)
    }),
  )
})
