/** A fake vendor in a process of its own: NAME RECORDS LATENCY. Prints the connection to it; for each line that it reads, the requests since. */
import { createInterface } from 'node:readline'
import { vendorNamed } from './vendors.ts'

const [name = '', records = '0', latency = '0'] = process.argv.slice(2)
const bench = vendorNamed(name)
if (!bench) throw new Error(`there is no vendor ${name}`)
const MINUTE = 60_000
let time = Date.now() - (Number(records) + 1) * MINUTE
const running = await bench.vendor.start(() => time)
for (let index = 0; index < Number(records); index++) {
  time += MINUTE
  bench.grow((change, ...parameters) => running.change(change, parameters), index)
}
let requests = 0
running.server.onRequest = () => requests++
running.server.latencyMilliseconds = Number(latency)
console.log(JSON.stringify({ connection: running.connection }))
for await (const _line of createInterface(process.stdin)) {
  console.log(JSON.stringify({ requests }))
  requests = 0
}
await running.stop()
