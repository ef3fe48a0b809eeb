/**
 * Runs all subtasks of a vendor's first scope: NAME DATABASE. Prints seconds, CPU, peak memory and the requests of chains. Only
 * the collectors are timed.
 */
import { openDatabase } from '../../src/database/open.ts'
import { peakMegabytes } from '../../tests/support/peak-memory.ts'
import { isChain } from './chains.ts'
import type { VendorCollected } from './collect-vendor.ts'
import { vendorNamed } from './vendors.ts'

const [name = '', url = ''] = process.argv.slice(2)
const bench = vendorNamed(name)
if (!bench) throw new Error(`there is no vendor ${name}`)
const {
  interfaces: [plugin],
  scopes: [scope],
} = bench.vendor
const database = await openDatabase(url, 5)
let seconds = 0
let cpuSeconds = 0
let chained = 0
for (const subtask of plugin.subtasks.filter(({ isDefault }) => isDefault)) {
  const started = performance.now()
  const cpu = process.cpuUsage()
  let asked = 0
  await subtask.run({
    database,
    options: { connectionId: 1, ...scope?.options },
    fullSync: false,
    signal: new AbortController().signal,
    progress({ requests = asked }) {
      asked = requests
    },
  })
  if (isChain(plugin, subtask)) chained += asked
  if (subtask.step !== 'collect') continue
  const { user, system } = process.cpuUsage(cpu)
  const spent = (performance.now() - started) / 1000
  if (process.env.BENCH_SUBTASKS) console.error(`${subtask.name}: ${spent.toFixed(2)} s`)
  seconds += spent
  cpuSeconds += (user + system) / 1e6
}
await database.close()
const megabytes = peakMegabytes()
console.log(JSON.stringify({ seconds, cpuSeconds, megabytes, chained } satisfies VendorCollected))
