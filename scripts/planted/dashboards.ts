import type { Plot } from './plot.ts'

export const dashboards: readonly Plot[] = [
  {
    file: 'src/dashboards/range.ts',
    tests: ['src/dashboards/range.test.ts'],
    defects: [
      ['range.from <= range.to', 'range.from < range.to'],
      ['moment >= new Date(0) && ', ''],
      ["end === 'from' ? start : new", "end === 'to' ? start : new"],
      ['moved(start, 1, unit)) - 1', 'moved(start, 1, unit))'],
      ['  if (later.getUTCDate() !== moment.getUTCDate()) later.setUTCDate(0)\n', ''],
      ['Math.floor(month / months) * months', 'Math.floor(month / months)'],
      ["unit === 'w' ? 3 * DAY : 0", "unit === 'w' ? 4 * DAY : 0"],
      ['to.getUTCMilliseconds() === 999', 'to.getUTCMilliseconds() === 998'],
      ['to: new Date(Number(from) - 1) }', 'to: from }'],
      ["end === 'from' ? parseTime(text) : parseEnd(text)", 'parseTime(text)'],
      ['(end.getUTCFullYear() - from.getUTCFullYear()) * 12 + ', ''],
      ["['Q', 3],", "['Q', 4],"],
    ],
  },
]
