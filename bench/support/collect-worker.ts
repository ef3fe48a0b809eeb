/** Collects pull requests and what hangs on them; prints seconds, CPU and peak memory of the collectors as JSON. */
import { openDatabase } from '../../src/database/open.ts'
import { plugins, runGithub } from '../../tests/collect/support/github.ts'

export interface Collected {
  readonly seconds: number
  readonly cpuSeconds: number
  readonly megabytes: number
}

const SUBTASKS = [
  'Collect Pull Requests',
  'Extract Pull Requests',
  'Collect PR Details',
  'Collect PR Commits',
  'Collect PR Reviews',
]

const [name, url = ''] = process.argv.slice(2)
const plugin = plugins.find((each) => each.name === name)
if (!plugin) throw new Error(`there is no plugin ${name}`)
const database = await openDatabase(url, 5)
let seconds = 0
let cpuSeconds = 0
for (const subtask of plugin.subtasks.filter((each) => SUBTASKS.includes(each.name))) {
  const started = performance.now()
  const cpu = process.cpuUsage()
  await runGithub(database, plugin, { only: (each) => each === subtask })
  if (subtask.step !== 'collect') continue
  const { user, system } = process.cpuUsage(cpu)
  seconds += (performance.now() - started) / 1000
  cpuSeconds += (user + system) / 1e6
}
await database.close()
const megabytes = Math.round(process.resourceUsage().maxRSS / 1024)
console.log(JSON.stringify({ seconds, cpuSeconds, megabytes } satisfies Collected))
