import type { Plot } from './plot.ts'

export const metrics: readonly Plot[] = [
  {
    file: 'src/metrics/grades/frequency.ts',
    tests: ['src/metrics/grades/frequency.test.ts'],
    defects: [
      ['Math.max(from.getTime(), end - 1)', 'end - 1'],
      ['(new Date(day).getUTCDay() + 6) % 7', 'new Date(day).getUTCDay()'],
      ['(sorted.length - 1) / 2', 'sorted.length / 2'],
      ['>= 0.5', '> 0.5'],
      ['days.length >= SHORTEST_MONTH', 'days.length > SHORTEST_MONTH'],
      ['months.length >= HALF_YEAR', 'months.length > HALF_YEAR'],
      ['monthOf(first) === first ? first : monthAfter(first)', 'first'],
      ['last + DAY ? last', 'last ? last'],
      ['index - HALF_YEAR + 1', 'index - HALF_YEAR'],
      ['(rolling.length - 1 - index) % HALF_YEAR', 'index % HALF_YEAR'],
      ['isLongEnough || all > 0 ? all : null', 'isLongEnough ? all : null'],
    ],
  },
  {
    file: 'src/metrics/words/value-words.ts',
    tests: ['src/metrics/words/value-words.test.ts'],
    defects: [
      ["minutes < 0 ? '−' : ''", "''"],
      ['if (size < 1) return', 'if (size <= 1) return'],
      ['whole < DAY', 'whole <= DAY'],
      ['Math.round(size / HOUR) % 24', 'Math.floor(size / HOUR) % 24'],
      ['value < 60 ?', 'value <= 60 ?'],
      ["amount === '1' ? ONE_OF", 'value === 1 ? ONE_OF'],
      ['&& value === 0', '&& value !== null'],
      ['rounded(value * 100, 1)', 'rounded(value * 100, 0)'],
    ],
  },
  {
    file: 'src/metrics/calculate/issue-history.ts',
    tests: ['src/metrics/calculate/issue-history.test.ts'],
    defects: [
      ['standardTo || (stays.at(-1) as Stay).standard', 'standardTo'],
      ['is_first_status: index === 0', 'is_first_status: index === 1'],
      ['Math.max(0, end.getTime() - start.getTime())', '(end.getTime() - start.getTime())'],
      ['!after.includes(who) && since.has(who)', 'since.has(who)'],
      ['!before.includes(who) && !since.has(who)', '!before.includes(who)'],
      ['for (const who of [...since.keys()]) close(who, now)', ''],
    ],
  },
  {
    file: 'src/metrics/calculate/commit-graph.ts',
    tests: ['src/metrics/calculate/commit-graph.test.ts'],
    defects: [
      ['if (oldest >= 0) mark(oldest, newest)', 'if (oldest > 0) mark(oldest, newest)'],
      ['if (kept === first || parent !== parents[kept - 1]) ', ''],
      ['own.sort((one, other) => shas.compare(one, other))', 'own.sort((one, other) => shas.compare(other, one))'],
      ['if (below + 1 < heap.length && this', 'if (below + 1 < heap.length - 1 && this'],
    ],
  },
  {
    file: 'src/metrics/read/read.ts',
    tests: ['tests/metrics/metrics.test.ts'],
    defects: [['middle * 2 in (size, size + 1)', 'middle * 2 in (size, size + 2)']],
  },
]
