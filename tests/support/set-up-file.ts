import { appendFileSync, readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import { putEnvironmentBack } from './environment.ts'

/** Generated tests are the same in every run, so that a red one is the change's fault; another seed searches elsewhere. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FAST_CHECK_SEED ?? 20261115) })

// Files share a process: what one of them sets must not reach the next.
const environment = { ...process.env }
const globals = everybodysGlobals()
const folder = process.cwd()
const begun = processorSeconds()

// Declared first, so it runs after the hooks of the file itself.
afterAll(() => {
  putEnvironmentBack(environment)
  process.chdir(folder)
  noteProcessorTime()
  // Node keeps what it compiled when a process ends by itself. Vitest ends ours.
  flushCompileCache()
  const left = everybodysGlobals()
  const changed = Object.keys(globals).filter((name) => left[name] !== globals[name])
  expect(changed, 'globals that this file leaves changed: the next file would see them').toEqual([])
})

/** What a test may replace for a while, such as the clock. */
function everybodysGlobals(): Readonly<Record<string, unknown>> {
  const { fetch, setTimeout, setInterval } = globalThis
  return {
    env: process.env,
    Date,
    now: Date.now,
    random: Math.random,
    parse: JSON.parse,
    fetch,
    setTimeout,
    setInterval,
  }
}

/** Of this process and of its children that have ended, where the system tells. */
function processorSeconds(): number {
  try {
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
    return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100
  } catch {
    return process.cpuUsage().user / 1_000_000
  }
}

function noteProcessorTime(): void {
  const { PROCESSOR_TIMES: file } = process.env
  if (!file) return
  const seconds = processorSeconds() - begun
  appendFileSync(
    file,
    `${JSON.stringify({ file: expect.getState().testPath, seconds, memory: process.memoryUsage.rss() })}\n`,
  )
}
