import { expect, test } from 'vitest'
import { reachedTests } from './changed-tests.ts'

const FILES = [
  { path: 'src/plugins/index.ts', text: "import { acme } from './acme/plugin.ts'" },
  { path: 'src/plugins/acme/plugin.ts', text: "import { columns } from './columns.ts'" },
  { path: 'src/plugins/acme/columns.ts', text: '' },
  { path: 'src/plugins/acme/columns.test.ts', text: "import { columns } from './columns.ts'" },
  { path: 'src/api/server.ts', text: "import { plugins } from '../plugins/index.ts'" },
  { path: 'tests/api/core.test.ts', text: "import { createServer } from '../../src/api/server.ts'" },
  { path: 'tests/acme/collect.test.ts', text: "import { plugins } from '../../src/plugins/index.ts'" },
  { path: 'tests/convergence/acme.test.ts', text: '' },
  { path: 'tests/metrics/four-sources.test.ts', text: "const late = await import('../../src/plugins/acme/plugin.ts')" },
]

test('a plugin reaches the tests that import it or bear its name, not every user of the list of plugins', () => {
  expect(reachedTests(FILES, ['src/plugins/acme/columns.ts'])).toEqual([
    'src/plugins/acme/columns.test.ts',
    'tests/acme/collect.test.ts',
    'tests/convergence/acme.test.ts',
    'tests/metrics/four-sources.test.ts',
  ])
})

test('the list itself reaches all who use it', () => {
  expect(reachedTests(FILES, ['src/plugins/index.ts'])).toEqual([
    'tests/acme/collect.test.ts',
    'tests/api/core.test.ts',
  ])
})

test('a changed test is run, a deleted file reaches those that still import it', () => {
  expect(reachedTests(FILES, ['tests/api/core.test.ts', 'src/plugins/acme/gone.ts'])).toEqual(
    [
      'tests/acme/collect.test.ts',
      'tests/api/core.test.ts',
      'src/plugins/acme/columns.test.ts',
      'tests/convergence/acme.test.ts',
    ].sort(),
  )
})

test('what has no imports reaches the tests of its folder', () => {
  expect(reachedTests(FILES, ['src/plugins/acme/fixtures/page.json'])).toContain('src/plugins/acme/columns.test.ts')
})
