import type { Plot } from './plot.ts'

export const web: readonly Plot[] = [
  {
    file: 'web/projects/list.tsx',
    tests: ['tests/web/projects.test.ts'],
    defects: [
      [
        'search: ({ find: _, ...rest }) => ({ ...rest, ...(next.trim() && { find: next.trim() }) })',
        'search: ({ find: _, ...rest }) => rest',
      ],
    ],
  },
]
