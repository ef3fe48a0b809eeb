/**
 * Plants defects, one for each part of Weir, into a copy of a revision and runs the tests of that part. A defect that no test
 * finds is printed, and the exit code is 1. node scripts/planted-defects.ts [REVISION] [NAME …]
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

interface Defect {
  readonly name: string
  readonly file: string
  readonly instead: string
  readonly put: string
  readonly tests: readonly string[]
}

const DEFECTS: readonly Defect[] = [
  {
    name: 'a row is lost on MariaDB alone',
    file: 'src/database/mysql/load.ts',
    instead: 'infileStreamFactory: () => Readable.from(pieces)',
    put: 'infileStreamFactory: () => Readable.from(pieces.map((piece) => piece.subarray(0, piece.lastIndexOf(10, -2) + 1)))',
    tests: ['src/database'],
  },
  {
    name: 'a column of a plugin has another field',
    file: 'src/plugins/circleci/entities/jobs.ts',
    instead: 'original_status: job.status,',
    put: 'original_status: job.name,',
    tests: ['src/plugins/circleci'],
  },
  {
    name: 'a page does not work',
    file: 'web/projects/list.tsx',
    instead: 'search: ({ find: _, ...rest }) => ({ ...rest, ...(next.trim() && { find: next.trim() }) })',
    put: 'search: ({ find: _, ...rest }) => rest',
    tests: ['tests/web/projects.test.ts'],
  },
  {
    name: 'a log shows a secret that it was told of',
    file: 'src/log.ts',
    instead: 'for (const secret of secrets) clean = clean.replaceAll(secret, HIDDEN)',
    put: '',
    tests: ['src/log.test.ts'],
  },
  {
    name: 'a median is the upper one',
    file: 'src/metrics/read/read.ts',
    instead: 'middle * 2 in (size, size + 1)',
    put: 'middle * 2 in (size, size + 2)',
    tests: ['tests/metrics/metrics.test.ts'],
  },
  {
    name: 'a task goes on behind its fence',
    file: 'src/runner/fence.ts',
    instead: 'if (end !== 0n && now() > end)',
    put: 'if (end !== 0n && now() < 0n)',
    tests: ['src/runner/fence.test.ts'],
  },
  {
    name: 'an operator deletes projects',
    file: 'src/api/routes/projects.ts',
    instead: "least: 'admin', reach: 'path', size: 'small'",
    put: "least: 'operator', reach: 'path', size: 'small'",
    tests: ['tests/api/roles.test.ts'],
  },
  {
    name: 'weights are exchanged',
    file: 'traffic/model/action.ts',
    instead: 'weight: weights.current },',
    put: 'weight: weights.target },',
    tests: ['tests/traffic/pure.test.ts', 'tests/traffic/life-cycle.test.ts'],
  },
  {
    name: 'an alert that was told is told again',
    file: 'src/alerts/evaluate.ts',
    instead: "news: isLong && !is_told ? 'broken' : null",
    put: "news: isLong ? 'broken' : null",
    tests: ['tests/alerts'],
  },
  {
    name: 'a page is taken for stored before it is',
    file: 'src/plugin-kit/collect/page-store.ts',
    instead: 'for (const { done } of group) done.reject(error)',
    put: 'for (const { done } of group) done.resolve()',
    tests: ['tests/collect/faults.test.ts', 'tests/plugin-kit/collect.test.ts'],
  },
]

const root = dirname(import.meta.dirname)

function copyOf(revision: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-planted-'))
  execFileSync('git', ['clone', '--quiet', '--shared', '--no-checkout', root, folder])
  execFileSync('git', ['checkout', '--quiet', revision], { cwd: folder })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

function areGreen(folder: string, { file, tests }: Defect): boolean {
  const build = "import('./scripts/build-web.mjs').then(({ ensureWebBuilt }) => ensureWebBuilt())"
  if (file.startsWith('web/')) execFileSync(process.execPath, ['-e', build], { cwd: folder, stdio: 'ignore' })
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  return spawnSync(process.execPath, [vitest, 'run', ...tests], { cwd: folder, stdio: 'ignore' }).status === 0
}

function isFound(folder: string, defect: Defect): boolean {
  const { file, instead, put } = defect
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(instead).length !== 2) throw new Error(`${file} has not exactly one place with: ${instead}`)
  // Tests that fail without the defect prove nothing.
  if (!areGreen(folder, defect)) throw new Error(`${defect.tests.join(', ')}: not green without the defect`)
  writeFileSync(
    path,
    text.replace(instead, () => put),
  )
  try {
    return !areGreen(folder, defect)
  } finally {
    writeFileSync(path, text)
  }
}

const [revision = 'HEAD', ...names] = process.argv.slice(2)
const folder = copyOf(revision)
try {
  for (const defect of DEFECTS.filter(({ name }) => names.length === 0 || names.includes(name))) {
    const found = isFound(folder, defect)
    console.log(`${found ? 'found' : 'NOT FOUND'}: ${defect.name} (${defect.file})`)
    if (!found) process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
