import type { Plot } from './plot.ts'

export const alerts: readonly Plot[] = [
  {
    file: 'src/alerts/evaluate.ts',
    tests: ['src/alerts/evaluate.test.ts'],
    defects: [
      ['value > threshold : value < threshold', 'value >= threshold : value < threshold'],
      ['value > threshold : value < threshold', 'value > threshold : value <= threshold'],
      ['value > threshold : value < threshold', 'value < threshold : value > threshold'],
      ['value !== null && (direction', '(direction'],
      ['if (firstFine === 0)', 'if (firstFine <= 0)'],
      ["news: is_told ? 'recovered' : null", "news: 'recovered'"],
      ['(firstFine < 0 ? moments.length : firstFine) - 1', '(firstFine < 0 ? moments.length : firstFine)'],
      ["isLong || is_told ? 'broken' : 'pending'", "isLong ? 'broken' : 'pending'"],
      ["news: isLong && !is_told ? 'broken' : null", "news: isLong ? 'broken' : null"],
      ['length: looks + 1', 'length: looks'],
      ['(forDays * DAY_MS) / looks', '(forDays * DAY_MS) / MOST_LOOKS'],
      ["if (value === null) return { state: 'no data', value, brokenSince: null, news: null }", ''],
    ],
  },
]
