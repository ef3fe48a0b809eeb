/**
 * Plants defects, one at a time, into a copy of a commit and runs the tests that have to find it. A defect that no test finds is
 * printed, and the exit code is 1.
 *
 *   npm run check:defects                             all of them, in the last commit
 *   npm run check:defects -- runner alerts            the defects of some rooms
 *   npm run check:defects -- src/runner/queue.ts      the defects of some files
 *   npm run check:defects -- --revision v0.1.0        in another commit
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { copyOfRevision } from './copy-of-revision.ts'
import { ROOMS } from './planted/index.ts'
import type { Plot } from './planted/plot.ts'

/** Some defects make a loop that never ends. That is found too. */
const LONGEST_MS = 5 * 60_000

function areGreen(folder: string, { file, tests }: Plot): boolean {
  const build = "await import('./scripts/build-web.mjs').then(({ ensureWebBuilt }) => ensureWebBuilt())"
  if (file.startsWith('web/')) spawnSync(process.execPath, ['-e', build], { cwd: folder, stdio: 'ignore' })
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const parameters = [vitest, 'run', ...tests, '--bail', '1', '--maxWorkers', '1']
  const { status } = spawnSync(process.execPath, parameters, { cwd: folder, stdio: 'ignore', timeout: LONGEST_MS })
  return status === 0
}

/** The defects that no test finds, as lines to print. */
function notFound(folder: string, plot: Plot): string[] {
  const { file, tests, defects } = plot
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  // Tests that fail without a defect prove nothing.
  if (!areGreen(folder, plot)) return [`${tests.join(', ')}: not green without a defect`]
  try {
    return defects.flatMap(([right, wrong]) => {
      const place = `${file}: ${JSON.stringify(right)} → ${JSON.stringify(wrong)}`
      if (text.split(right).length !== 2) return [`${place}: the file does not have this text exactly once`]
      writeFileSync(
        path,
        text.replace(right, () => wrong),
      )
      const isFound = !areGreen(folder, plot)
      console.log(`${isFound ? 'found' : 'NOT FOUND'}: ${place}`)
      return isFound ? [] : [place]
    })
  } finally {
    writeFileSync(path, text)
  }
}

const { values, positionals } = parseArgs({
  options: { revision: { type: 'string', default: 'HEAD' } },
  allowPositionals: true,
})
const plots = Object.entries(ROOMS).flatMap(([room, all]) =>
  all.filter(({ file }) => positionals.length === 0 || positionals.includes(room) || positionals.includes(file)),
)
const folder = copyOfRevision(values.revision)
try {
  const lost = plots.flatMap((plot) => notFound(folder, plot))
  for (const line of lost) console.error(`not found: ${line}`)
  const count = plots.reduce((sum, { defects }) => sum + defects.length, 0)
  console.log(`planted defects: ${count - lost.length} of ${count} found`)
  if (count === 0 || lost.length > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
