import type { Plot } from './plot.ts'

export const cli: readonly Plot[] = [
  {
    file: 'src/cli/bytes-in-words.ts',
    tests: ['src/cli/bytes-in-words.test.ts'],
    defects: [
      ['UNITS.length - 1', 'UNITS.length'],
      ['bytes < 1 ? 0 : ', ''],
      ['Math.floor(Math.log2(bytes) / 10)', 'Math.round(Math.log2(bytes) / 10)'],
      ['1024 ** power', '1000 ** power'],
    ],
  },
  {
    file: 'src/cli/sparkline.ts',
    tests: ['src/cli/sparkline.test.ts'],
    defects: [
      ['span === 0 ? 3 : ', ''],
      ['(value - least) / span', 'value / span'],
      ['(STEPS.length - 1)', 'STEPS.length'],
      ['values.filter((value) => value !== null)', 'values.map((value) => value ?? 0)'],
      ["value === null ? '·' : letterOf(value)", 'letterOf(value ?? least)'],
      ['Math.max(...known) - least', 'Math.max(...known)'],
    ],
  },
]
