import type { Plot } from './plot.ts'

export const backup: readonly Plot[] = [
  {
    file: 'src/backup/retention.ts',
    tests: ['src/backup/retention.test.ts'],
    defects: [
      ['if (count === undefined && days === undefined) return []', ''],
      ['Math.max(count ?? 0, 1)', 'Math.max(count ?? 0, 0)'],
      ['age(name) < since', 'age(name) <= since'],
      ['momentOf(name)?.getTime() ?? Number.POSITIVE_INFINITY', 'momentOf(name)?.getTime() ?? 0'],
      ['now.getTime() - days * DAY_MS', 'now.getTime() - (days + 1) * DAY_MS'],
    ],
  },
  {
    file: 'src/backup/backup-name.ts',
    tests: ['src/backup/retention.test.ts'],
    defects: [
      ['.filter((name) => momentOf(name))', ''],
      ['    .reverse()\n', ''],
      ['Number.isNaN(moment.getTime()) ? undefined : moment', 'moment'],
      ['.slice(0, 19)', '.slice(0, 16)'],
    ],
  },
  {
    file: 'src/backup/canonical-json.ts',
    tests: ['src/backup/canonical-json.test.ts'],
    defects: [
      ['(one < other ? -1 : 1)', '(one < other ? 1 : -1)'],
      ['? rawJSON(source) : value', '? value : value'],
      [' || Array.isArray(value)) return value', ') return value'],
      [".replace('.', '')", ''],
    ],
  },
]
