/**
 * Prints how long test files took at the end of a run, and can keep the times so that the longest files begin first. Failures
 * are printed after the times, because a person who sees only the last lines of a run needs them first.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'

const KEPT = join(import.meta.dirname, '../file-seconds.json')

/** Seconds that each test file took in a run on a quiet machine; `npm test -- --keep-times` writes them. */
export const keptSeconds = (): Readonly<Record<string, number>> =>
  existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : {}

interface FileTime {
  readonly path: string
  readonly seconds: number
}

/**
 * Prints every file, slowest first, then the sum of each part of the repository. Files run side by side, so the sums exceed
 * the duration of the run.
 */
export default class FileTimes implements Reporter {
  /** Prints a failure at once, since a run may be ended before its summary. */
  onTestCaseResult(test: TestCase): void {
    const place = `${test.module.relativeModuleId} ${test.fullName}`
    for (const { message, diff = '', stack = '' } of test.result().errors ?? [])
      console.log(`\nFailed: ${place}\n${[message, diff, stack].filter(Boolean).join('\n')}`)
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    if (modules.length < 2) return
    printTimes(modules)
    printFailures(modules)
  }
}

function printTimes(modules: readonly TestModule[]): void {
  const times = modules.map(timeOf).sort((left, right) => right.seconds - left.seconds)
  console.log('\nTime of every file:')
  for (const { path, seconds } of times) print(seconds, path)
  const rooms = new Map<string, FileTime[]>()
  for (const time of times) rooms.set(roomOf(time), [...(rooms.get(roomOf(time)) ?? []), time])
  const sums = [...rooms].map(([room, files]) => ({ text: `${room} (${files.length})`, seconds: sumOf(files) }))
  console.log('\nTime by room, with its number of files:')
  for (const { text, seconds } of sums.sort((left, right) => right.seconds - left.seconds)) print(seconds, text)
  print(sumOf(times), `all (${times.length})\n`)
  if (process.env.KEEP_TIMES === 'true') keep(times)
}

/** Prints one line per failure, with the first line of its error. The whole error was printed above the times. */
function printFailures(modules: readonly TestModule[]): void {
  const failures = modules.flatMap((module) => [
    ...failureOf(module, ''),
    ...[...module.children.allSuites()].flatMap((suite) => failureOf(suite, suite.fullName)),
    ...[...module.children.allTests('failed')].flatMap((test) => failureOf(test, test.fullName)),
  ])
  if (failures.length > 0) console.log(`\nFailed:\n${failures.join('\n')}`)
}

function failureOf(part: TestModule | TestSuite | TestCase, name: string): string[] {
  const errors = part.type === 'test' ? part.result().errors : part.errors()
  const path = part.type === 'module' ? part.relativeModuleId : part.module.relativeModuleId
  return errors?.length ? [`  ${path} ${name}\n      ${firstLine(errors[0]?.message ?? '')}`] : []
}

const firstLine = (text: string) => text.split('\n', 1)[0]!.slice(0, 300)

function timeOf(module: TestModule): FileTime {
  const { collectDuration, setupDuration, duration } = module.diagnostic()
  return { path: module.relativeModuleId, seconds: (collectDuration + setupDuration + duration) / 1000 }
}

/** The part of the repository that a test file is about, such as tests/api or src/database. */
const roomOf = ({ path }: FileTime) =>
  path
    .split('/')
    .slice(0, path.split('/').length > 2 ? 2 : 1)
    .join('/')
const sumOf = (times: readonly FileTime[]) => times.reduce((sum, { seconds }) => sum + seconds, 0)
const print = (seconds: number, text: string) => console.log(`${seconds.toFixed(1).padStart(8)} s  ${text}`)

/** Writes whole seconds, sorted by file name, so that a diff of the file is easy to read. */
function keep(times: readonly FileTime[]): void {
  const kept = times
    .map(({ path, seconds }) => [path, Math.ceil(seconds)] as const)
    .sort(([left], [right]) => (left < right ? -1 : 1))
  writeFileSync(KEPT, `${JSON.stringify(Object.fromEntries(kept), null, 2)}\n`)
}
