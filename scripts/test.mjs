import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ensureWebBuilt } from './build-web.mjs'
import { ensureInstalled, node, root, run, say, step } from './install.mjs'

/** What the tests run beside Node: Debian package → the program that shows that it is there. */
const PROGRAMS = {
  'mariadb-server': 'mariadbd',
  'redis-server': 'redis-server',
  haproxy: 'haproxy',
  prometheus: 'prometheus',
  'chromium-headless-shell': 'chromium-headless-shell',
  git: 'git',
}

const places = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin']
const isThere = (program) => places.some((place) => existsSync(join(place, program)))
const missingPackages = () => Object.keys(PROGRAMS).filter((name) => !isThere(PROGRAMS[name]))

async function ensurePrograms() {
  const missing = missingPackages()
  if (missing.length === 0) return
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    const install = `apt-get update -qq && apt-get install -qq -y --no-install-recommends ${missing.join(' ')}`
    await step(`installing ${missing.join(', ')}`, () =>
      run('sh', ['-c', `{ ${install}; } >/dev/null`], { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }),
    )
  }
  const left = missingPackages()
  if (left.length > 0) {
    say(
      `not installed: ${left.join(', ')}. What needs them is skipped; install them, or run this once as root on Debian.`,
    )
  }
}

const totals = { passed: 0, failed: 0, skipped: 0 }

async function check(name, file, parameters) {
  say(name)
  const code = await run(node, [join(root, file), ...parameters], environment)
  totals[code === 0 ? 'passed' : 'failed']++
  if (code !== 0) say(`${name}: failed`)
}

async function runTests(filters) {
  say('tests')
  const folder = mkdtempSync(join(tmpdir(), 'weir-results-'))
  const results = join(folder, 'results.json')
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${results}`]
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const code = await run(node, [vitest, 'run', ...reporters, ...filters], environment)
  const {
    numPassedTests = 0,
    numFailedTests = 0,
    numPendingTests = 0,
    numTodoTests = 0,
  } = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : {}
  rmSync(folder, { recursive: true, force: true })
  totals.passed += numPassedTests
  // A file that does not load, or a server that does not start, fails the run without failing a test.
  totals.failed += numFailedTests || (code === 0 ? 0 : 1)
  totals.skipped += numPendingTests + numTodoTests
}

// Tools that name `node` in their first line, and tests that start it, get the project's own.
const environment = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }

say('testing')
try {
  await ensureInstalled({ development: true })
  await ensurePrograms()
  await ensureWebBuilt()
  await check('types', 'node_modules/typescript/bin/tsc', [])
  await check('types of the web client', 'node_modules/typescript/bin/tsc', ['-p', 'web'])
  await check('format and lint', 'node_modules/@biomejs/biome/bin/biome', ['check', '--diagnostic-level=error', '.'])
  await check('import rules', 'scripts/check-imports.ts', [])
  await runTests(process.argv.slice(2))
} catch (error) {
  console.error(`weir: ${error.message}`)
  totals.failed++
}
if (process.env.CI === 'true' && totals.skipped > 0) {
  say(`with CI=true nothing may be skipped: ${totals.skipped} skipped tests count as failed`)
  totals.failed += totals.skipped
  totals.skipped = 0
}
const skipped = totals.skipped > 0 ? `, ${totals.skipped} skipped` : ''
console.log(`${totals.passed} passed, ${totals.failed} failed${skipped}`)
process.exitCode = totals.failed === 0 ? 0 : 1
