import type { Plot } from './plot.ts'

export const plugins: readonly Plot[] = [
  {
    file: 'src/plugins/circleci/entities/jobs.ts',
    tests: ['src/plugins/circleci'],
    defects: [['original_status: job.status,', 'original_status: job.name,']],
  },
]
