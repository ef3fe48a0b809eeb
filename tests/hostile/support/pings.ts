/** Requests `/ping` again and again, in a separate thread: making requests of megabytes keeps a thread busy. */
import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'

export interface Ping {
  /** Clock time, in milliseconds. */
  readonly began: number
  readonly ms: number
}

/** Pings until the work is done. Returns the slowest answer. */
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

/** Uses a new connection, which is independent of those of other clients. */
function pingTime(address: string): Promise<number> {
  const began = performance.now()
  return new Promise((done, fail) => {
    get(`${address}/ping`, { agent: false }, (response) => {
      response.resume().once('end', () => done(performance.now() - began))
    }).once('error', fail)
  })
}
