/** Asks `/ping` again and again, in a thread of its own: to make requests of megabytes takes the time of whoever makes them. */
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export interface Ping {
  /** Of the clock, in milliseconds. */
  readonly began: number
  readonly ms: number
}

/** Until the work is done; gives the slowest answer. */
export async function besidePings(address: string, work: () => Promise<void>): Promise<Ping> {
  const worker = new Worker(new URL(import.meta.url), { workerData: address, execArgv: [] })
  const slowest = new Promise<Ping>((done, fail) => {
    worker.once('message', done).once('error', fail)
  })
  await Promise.all([work().finally(() => worker.postMessage('done')), slowest])
  return slowest
}

if (!isMainThread && typeof workerData === 'string') {
  let slowest: Ping = { began: 0, ms: 0 }
  let isDone = false
  parentPort?.once('message', () => (isDone = true))
  while (!isDone) {
    const began = Date.now()
    const ms = await pingTime(workerData)
    if (ms > slowest.ms) slowest = { began, ms }
    await sleep(20)
  }
  parentPort?.postMessage(slowest)
}

/** By a connection of its own: what happens to those of others does not concern it. */
function pingTime(address: string): Promise<number> {
  const began = performance.now()
  return new Promise((done, fail) => {
    get(`${address}/ping`, { agent: false }, (response) => {
      response.resume().once('end', () => done(performance.now() - began))
    }).once('error', fail)
  })
}
