import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { ensureWebBuilt } from './build-web.mjs'
import { ensureInstalled, node, root, run, say, step } from './install.mjs'

/** Programs that tests use besides Node: Debian package → the file that shows that it is installed. */
const PROGRAMS = {
  'mariadb-server': 'mariadbd',
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

const CHECKS = {
  types: ['node_modules/typescript/bin/tsc'],
  'types of the web client': ['node_modules/typescript/bin/tsc', '-p', 'web'],
  'format and lint': ['node_modules/@biomejs/biome/bin/biome', 'check', '--diagnostic-level=error', '.'],
  'rules of imports, exports and spreads': ['scripts/check-rules.ts'],
}

const totals = { passed: 0, failed: 0, skipped: 0 }

/** Runs beside the other checks. Its output comes in one piece, and only if it failed. */
function check([name, [file, ...parameters]]) {
  return new Promise((done, fail) => {
    const child = spawn(node, [join(root, file), ...parameters], { cwd: root, env: environment })
    let printed = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        printed += text
      })
    }
    child.once('error', fail)
    child.once('close', (code) => {
      totals[code === 0 ? 'passed' : 'failed']++
      if (code !== 0) console.error(printed)
      say(`${name}: ${code === 0 ? 'good' : 'failed, see above'}`)
      done()
    })
  })
}

async function runTests(filters) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-results-'))
  const results = join(folder, 'results.json')
  const times = join(root, 'tests/support/file-times.ts')
  const reporters = ['--reporter=default', `--reporter=${times}`, '--reporter=json', `--outputFile.json=${results}`]
  const vitest = join(root, 'node_modules/vitest/vitest.mjs')
  const code = await run(node, [vitest, 'run', ...reporters, ...filters], environment)
  const result = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')) : {}
  rmSync(folder, { recursive: true, force: true })
  const { numPassedTests = 0, numFailedTests = 0, numPendingTests = 0, numTodoTests = 0 } = result
  totals.passed += numPassedTests
  // A file that does not load, or a server that does not start, fails the run without failing a test.
  totals.failed += numFailedTests || (code === 0 ? 0 : 1)
  totals.skipped += numPendingTests + numTodoTests
}

/** Without a revision, the tests of changes that are not committed yet. */
function changedTests(revision) {
  const script = join(root, 'scripts/changed-tests.ts')
  const printed = execFileSync(node, [script, ...(revision ? [revision] : [])], { cwd: root, encoding: 'utf8' })
  return printed.split('\n').filter(Boolean)
}

// Tools that name `node` in their first line, and tests that start it, get the project's own.
const given = process.argv.slice(2)
const environment = {
  ...process.env,
  PATH: `${dirname(node)}${delimiter}${process.env.PATH}`,
  KEEP_TIMES: String(given.includes('--keep-times')),
}

const CHANGED = /^--changed(?:=(.+))?$/
const asksForChanged = given.map((word) => CHANGED.exec(word)).find(Boolean)
const filters = given.filter((word) => !CHANGED.test(word) && word !== '--keep-times')

say('testing')
try {
  await ensureInstalled({ development: true })
  await Promise.all([ensurePrograms(), ensureWebBuilt()])
  const chosen = asksForChanged ? changedTests(asksForChanged[1]) : []
  const checks = Object.entries(CHECKS).map(check)
  if (asksForChanged && chosen.length === 0) say('no test is reached by what has changed')
  else await runTests([...filters, ...chosen])
  await Promise.all(checks)
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
