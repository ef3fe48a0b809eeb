import type { Plot } from './plot.ts'

export const domain: readonly Plot[] = [
  {
    file: 'src/domain/deliveries.ts',
    tests: ['src/domain/deliveries.test.ts'],
    defects: [
      ['productionBranch !== null || !isProductionNamed : places', '!isProductionNamed : places'],
      ['places.some(production)', 'names.some(production)'],
      ['.every(productionBranch)', '.some(productionBranch)'],
      ['known.length > 0 && ', ''],
      ['const isProduction = isNamed && isOnBranch', 'const isProduction = isNamed || isOnBranch'],
      ['!(isJob && production === null)', '!isJob'],
      [': names.some(deployment)', ': names.every(deployment)'],
      ['(heads|tags|remotes\\/[^/]+)', '(heads|tags)'],
    ],
  },
  {
    file: 'src/domain/queued-seconds.ts',
    tests: ['src/domain/queued-seconds.test.ts'],
    defects: [
      ['started < queued', 'started <= queued'],
      ['Math.floor(', 'Math.ceil('],
    ],
  },
  {
    file: 'src/domain/classify.ts',
    tests: ['src/domain/classify.test.ts'],
    defects: [
      ['if (!index.has(word.toLowerCase())) ', ''],
      ["(word ?? '').toLowerCase()", "(word ?? '')"],
    ],
  },
  {
    file: 'src/domain/ids.ts',
    tests: ['src/domain/ids.test.ts'],
    defects: [[" || part === ''", '']],
  },
  {
    file: 'src/domain/issue-types.ts',
    tests: ['src/domain/issue-types.test.ts'],
    defects: [
      ["[...COUNTED_TYPES, 'SUBTASK']", '[...COUNTED_TYPES]'],
      ['!isTold && isIncidentText()', 'isIncidentText()'],
    ],
  },
]
