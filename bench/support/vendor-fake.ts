/**
 * A fake vendor in a separate process: NAME RECORDS LATENCY. Prints its connection and, for each line that it reads, the
 * requests since the last line.
 */
import { createInterface } from 'node:readline'
import type { AskedFor } from './plain-requests.ts'
import { vendorNamed } from './vendors.ts'

const [name = '', records = '0', latency = '0'] = process.argv.slice(2)
const bench = vendorNamed(name)
if (!bench) throw new Error(`there is no vendor ${name}`)
/** The time between two records; what changed within a day is asked for again. */
const STEP = 3_600_000
let time = Date.now() - (Number(records) + 1) * STEP
const running = await bench.vendor.start(() => time)
for (let index = 0; index < Number(records); index++) {
  time += STEP
  bench.grow((change, ...parameters) => running.change(change, parameters), index)
}
let requests: AskedFor[] = []
running.server.onRequest = ({ method = 'GET', url = '/', headers }, body) =>
  requests.push({ method, url: new URL(url, running.server.url).href, headers: { ...headers }, body: body.toString() })
running.server.latencyMilliseconds = Number(latency)
console.log(JSON.stringify({ connection: running.connection }))
for await (const _line of createInterface(process.stdin)) {
  console.log(JSON.stringify({ requests }))
  requests = []
}
await running.stop()
