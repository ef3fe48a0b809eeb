import type { Plot } from './plot.ts'

export const database: readonly Plot[] = [
  {
    file: 'src/database/time.ts',
    tests: ['src/database/time.test.ts'],
    defects: [
      ['if (moment.getUTCDate() === Number(text.slice(8, 10))) return moment', 'return moment'],
      ['Number(month) - 1 && start', 'Number(month) && start'],
      ['Number(minute) > 59 || Number(second)', 'Number(second)'],
      ['hours > FURTHEST_ZONE || ', ''],
      ["zone[0] === '-' ? -1 : 1", "zone[0] === '-' ? 1 : -1"],
      ['hours * 60 + minutes)', 'hours * 60)'],
      ['moment.getTime() + DAY - 1', 'moment.getTime() + DAY'],
    ],
  },
  {
    file: 'src/database/pieces.ts',
    tests: ['src/database/pieces.test.ts'],
    defects: [
      ['Math.floor(MOST_VALUES / width)', 'MOST_VALUES'],
      ['  if (piece.length > 0) yield piece as unknown as Piece<Value>\n', ''],
      ['inPieces(new Set(keys))', 'inPieces(keys)'],
      ['piece.length === 0 ? sql`1 = 0`', 'piece.length === 0 ? sql`1 = 1`'],
    ],
  },
  {
    file: 'src/database/exact-json.ts',
    tests: ['src/database/exact-json.test.ts'],
    defects: [
      ['Number.isSafeInteger(number) ? number : digits', 'number'],
      ['  JSON.parse(text)\n  return JSON.parse(quoted(text))', '  return JSON.parse(quoted(text))'],
      ['      if (!/^-?\\d+$/.test(text.slice(start, at))) continue\n', ''],
      ['digits.length > DIGITS || digits > LONGEST_SAFE', 'digits.length > DIGITS'],
      ['bytes[start - 1] === MINUS ? start - 2 : start - 1', 'start - 1'],
    ],
  },
  {
    file: 'src/database/mysql/load.ts',
    tests: ['src/database/mysql/load.test.ts'],
    defects: [
      [
        'infileStreamFactory: () => Readable.from(pieces)',
        'infileStreamFactory: () => Readable.from(pieces.map((piece) => piece.subarray(0, piece.lastIndexOf(10, -2) + 1)))',
      ],
    ],
  },
]
