import type { Plot } from './plot.ts'

export const runner: readonly Plot[] = [
  {
    file: 'src/runner/fence.ts',
    tests: ['src/runner/fence.test.ts'],
    defects: [
      ['if (end !== 0n && now() > end)', 'if (end !== 0n && now() < 0n)'],
      ['end !== 0n && ', ''],
      ['BigInt(forMs) * NS', 'BigInt(forMs)'],
      ['        fence.check()\n        return result', '        return result'],
      ['before?.then(fence.check)', 'before'],
    ],
  },
  {
    file: 'src/runner/interruptions.ts',
    tests: ['src/runner/interruptions.test.ts'],
    defects: [
      ['losses >= MOST_LOSSES', 'losses > MOST_LOSSES'],
      ['losses > MOST_LOSSES', 'losses >= MOST_LOSSES'],
      ['if (!isDuplicate(error)) throw error', 'throw error'],
      [".where('is_loss', '=', true)", ''],
      ['>= MUCH_MEMORY_PERCENT', '> MUCH_MEMORY_PERCENT'],
      ['kills > (last?.memory_kills ?? kills)', 'kills >= (last?.memory_kills ?? kills)'],
      ['losses.at(-1)?.cause', 'losses.at(0)?.cause'],
    ],
  },
  {
    file: 'src/runner/queue.ts',
    tests: ['tests/pipelines/runner.test.ts'],
    defects: [
      ['      .filter(({ priority }) => priority === waiting[0]?.priority)\n', ''],
      ['labels.get(id)?.some((label) => taken.has(label))', 'labels.get(id)?.every((label) => taken.has(label))'],
      ['collecting.length >= maxParallel', 'collecting.length > maxParallel'],
      [".orderBy('priority', 'desc')", ".orderBy('priority')"],
    ],
  },
]
