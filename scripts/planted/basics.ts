import type { Plot } from './plot.ts'

export const basics: readonly Plot[] = [
  {
    file: 'src/basics/nearest.ts',
    tests: ['src/basics/nearest.test.ts'],
    defects: [
      ['Math.max(2, Math.floor(candidate.length / 4))', 'Math.max(1, Math.floor(candidate.length / 4))'],
      ['one.distance - other.distance', 'other.distance - one.distance'],
      [
        'row > 1 && column > 1 && left[row - 1] === right[column - 2]',
        'row > 1 && column > 1 && left[row - 1] === right[column - 1]',
      ],
      ['known.length > MOST_LISTED', 'known.length >= MOST_LISTED'],
      ['.slice(0, MOST_GUESSES)', ''],
    ],
  },
  {
    file: 'src/basics/decimal.ts',
    tests: ['src/basics/decimal.test.ts'],
    defects: [
      ['Number.isSafeInteger(number)', 'Number.isInteger(number)'],
      ['number < 0 || ', ''],
      ['Object.is(number, -0)', 'number === 0'],
    ],
  },
  {
    file: 'src/basics/nearly-equal.ts',
    tests: ['src/basics/nearly-equal.test.ts'],
    defects: [
      ['mine.size === theirs.size &&\n', ''],
      ['Math.abs(one - other) <= TOLERANCE', 'one - other <= TOLERANCE'],
    ],
  },
  {
    file: 'src/basics/user-file.ts',
    tests: ['src/basics/user-file.test.ts'],
    defects: [
      ['there?.isFile() && !force', 'there?.isFile()'],
      ['writing.isPrivate ? 0o600 : 0o666', '0o666'],
      ['    await rm(draft, { force: true })\n', ''],
      ['lost.length > 0 && !force', 'lost.length > 1 && !force'],
    ],
  },
]
