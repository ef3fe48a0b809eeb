/** Collects pull or merge requests and everything that belongs to them; prints seconds, CPU and peak memory of the collectors as JSON. */
import { openDatabase } from '../../src/database/open.ts'
import { CODE_HOSTS, type CodeHostName } from '../../tests/collect/support/code-hosts.ts'
import { peakMegabytes } from '../../tests/support/peak-memory.ts'

export interface Collected {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly megabytes: number
}

const [host = 'github', name, url = ''] = process.argv.slice(2)
const { plugins, changes, run } = CODE_HOSTS[host as CodeHostName]
const plugin = plugins.find((each) => each.name === name)
if (!plugin) throw new Error(`there is no plugin ${name}`)
const database = await openDatabase(url, 5)
let seconds = 0
let cpuSeconds = 0
for (const subtask of plugin.subtasks.filter((each) => changes.includes(each.name))) {
  const started = performance.now()
  const cpu = process.cpuUsage()
  await run(database, plugin, { only: (each) => each === subtask })
  if (subtask.step !== 'collect') continue
  const { user, system } = process.cpuUsage(cpu)
  seconds += (performance.now() - started) / 1000
  cpuSeconds += (user + system) / 1e6
}
await database.close()
const megabytes = peakMegabytes()
console.log(JSON.stringify({ seconds, cpuSeconds, megabytes } satisfies Collected))
