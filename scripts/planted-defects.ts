/**
 * Plants defects, one at a time, into a copy of a commit and runs the tests that have to find it. A defect that no test finds is
 * printed, and the exit code is 1.
 *
 *   npm run check:defects                             all of them, in the last commit
 *   npm run check:defects -- runner alerts            the defects of some rooms
 *   npm run check:defects -- src/runner/queue.ts      the defects of some files
 *   npm run check:defects -- --revision v0.1.0        in another commit
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { copyOfRevision } from './copy-of-revision.ts'
import { ROOMS } from './planted/index.ts'
import type { Plot } from './planted/plot.ts'

/** Some defects make a loop that never ends. That is found too. */
const LONGEST_MS = 5 * 60_000

/** Runs the tests of a plot in a process group of their own: a loop that never ends would outlive its parent. */
async function areGreen(folder: string, { file, tests }: Plot): Promise<boolean> {
  const build = "await import('./scripts/build-web.mjs').then(({ ensureWebBuilt }) => ensureWebBuilt())"
  if (file.startsWith('web/')) spawnSync(process.execPath, ['-e', build], { cwd: folder, stdio: 'ignore' })
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs')
  const parameters = [vitest, 'run', ...tests, '--bail', '1', '--maxWorkers', '1']
  const child = spawn(process.execPath, parameters, { cwd: folder, stdio: 'ignore', detached: true })
  const limit = setTimeout(() => process.kill(-(child.pid as number), 'SIGKILL'), LONGEST_MS)
  const [status] = await once(child, 'exit')
  clearTimeout(limit)
  return status === 0
}

/** The defects that no test finds, as lines to print. */
async function notFound(folder: string, plot: Plot): Promise<string[]> {
  const { file, tests, defects } = plot
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  // Tests that fail without a defect prove nothing.
  if (!(await areGreen(folder, plot))) return [`${tests.join(', ')}: not green without a defect`]
  const lost: string[] = []
  try {
    for (const [right, wrong] of defects) {
      const place = `${file}: ${JSON.stringify(right)} → ${JSON.stringify(wrong)}`
      if (text.split(right).length !== 2) {
        lost.push(`${place}: the file does not have this text exactly once`)
        continue
      }
      writeFileSync(
        path,
        text.replace(right, () => wrong),
      )
      const isFound = !(await areGreen(folder, plot))
      console.log(`${isFound ? 'found' : 'NOT FOUND'}: ${place}`)
      if (!isFound) lost.push(place)
    }
    return lost
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
  const lost: string[] = []
  for (const plot of plots) lost.push(...(await notFound(folder, plot)))
  for (const line of lost) console.error(`not found: ${line}`)
  const count = plots.reduce((sum, { defects }) => sum + defects.length, 0)
  console.log(`planted defects: ${count - lost.length} of ${count} found`)
  if (count === 0 || lost.length > 0) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
