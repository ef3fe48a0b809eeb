/** Runs all subtasks on a multibranch project; prints seconds, CPU and peak memory as JSON. Only the collectors are timed. */
import { openDatabase } from '../../src/database/open.ts'
import { jenkins } from '../../src/plugins/jenkins/plugin.ts'
import { runJenkins } from '../../tests/jenkins/support/jenkins.ts'
import { peakMegabytes } from '../../tests/support/peak-memory.ts'
import type { Collected } from './collect-worker.ts'

const [url = ''] = process.argv.slice(2)
const database = await openDatabase(url, 5)
let seconds = 0
let cpuSeconds = 0
for (const subtask of jenkins.subtasks) {
  const started = performance.now()
  const cpu = process.cpuUsage()
  await runJenkins(database, 'team-1/app', { only: (each) => each === subtask })
  if (subtask.step !== 'collect') continue
  const { user, system } = process.cpuUsage(cpu)
  seconds += (performance.now() - started) / 1000
  cpuSeconds += (user + system) / 1e6
}
await database.close()
const megabytes = peakMegabytes()
console.log(JSON.stringify({ seconds, cpuSeconds, megabytes } satisfies Collected))
