/** Runs the plugin on a generated repository; prints seconds by subtask and peak memory as JSON. */

import { openDatabase } from '../../src/database/open.ts'
import type { TaskRun } from '../../src/plugin-kit/spec/subtask.ts'
import { gitextractor } from '../../src/plugins/gitextractor/plugin.ts'
import { peakMegabytes } from '../../tests/support/peak-memory.ts'

const [databaseUrl = '', options = '{}', ...names] = process.argv.slice(2)
const database = await openDatabase(databaseUrl)
const run: TaskRun = {
  database,
  options: JSON.parse(options),
  fullSync: true,
  signal: new AbortController().signal,
  progress: () => {},
}
const plugin = gitextractor(() => [])
const seconds: Record<string, number> = {}
let rows = 0
for (const name of names) {
  const started = performance.now()
  const result = await plugin.subtasks.find((each) => each.name === name)?.run(run)
  seconds[name] = (performance.now() - started) / 1000
  rows += result?.rows ?? 0
}
await database.close()
console.log(JSON.stringify({ seconds, rows, megabytes: peakMegabytes() }))
