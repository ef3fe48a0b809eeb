import type { Plot } from './plot.ts'

export const configAsCode: readonly Plot[] = [
  {
    file: 'src/config-as-code/dropped-rules.ts',
    tests: ['src/config-as-code/dropped-rules.test.ts'],
    defects: [
      ['before && isEmpty(before[name]) ? [] :', 'before ? [] :'],
      ['!isIn(after[name], place) && ', ''],
      ['(!before || isIn(before[name], place))', 'true'],
      ['dropped.length === 0 || ', ''],
    ],
  },
]
