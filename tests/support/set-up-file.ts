import { appendFileSync, readFileSync } from 'node:fs'
import { flushCompileCache } from 'node:module'
import fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import { putEnvironmentBack } from './environment.ts'

/** Generated tests are the same in every run, so a failure is caused by a change. Another seed searches elsewhere. */
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env.FAST_CHECK_SEED ?? 20261115) })

// Files share a process: settings that one file changes must not affect the next.
const environment = { ...process.env }
const globals = everybodysGlobals()
const folder = process.cwd()
const begun = processorSeconds()

// Declared first, so that it runs after the hooks of the file itself.
afterAll(() => {
  putEnvironmentBack(environment)
  process.chdir(folder)
  noteProcessorTime()
  // Node writes its compile cache only when a process ends by itself, and Vitest ends ours.
  flushCompileCache()
  const left = everybodysGlobals()
  const changed = Object.keys(globals).filter((name) => left[name] !== globals[name])
  expect(changed, 'globals that this file leaves changed: the next file would see them').toEqual([])
})

/** The globals that a test may replace for a while, such as the clock. */
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

/** Processor time of this process and of its ended children, if the system tells it. */
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
