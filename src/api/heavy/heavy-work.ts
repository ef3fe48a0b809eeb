/** Heavy work beside the thread that answers requests: a few threads, a short queue, and an end to everything. */
import { Worker } from 'node:worker_threads'
import { UserError } from '../../errors.ts'
import { TrafficError } from '../../traffic/model/finding.ts'
import type { JobName, Jobs } from './jobs.ts'
import type { Failure, FromWorker, ToWorker } from './worker.ts'

const MOST_THREADS = 2
const MOST_WAITING = 32
/** What keeps to the limits of its size needs a tenth of it. */
const LIMIT_MS = 10_000
/** A thread that has had nothing to do for so long gives its memory back. */
const IDLE_MS = 60_000
const MEMORY_MB = 512

export interface HeavyWork {
  run<Name extends JobName>(job: Name, ...args: Parameters<Jobs[Name]>): Promise<Awaited<ReturnType<Jobs[Name]>>>
  close(): Promise<void>
}

interface Waiting {
  readonly message: ToWorker
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

const tooLong = () =>
  new UserError('This takes too long to work through: send less at once, or something simpler.', { status: 413 })

function errorOf({ message, status, trouble, findings }: Failure): Error {
  if (status === undefined) return new Error(message)
  if (trouble === undefined) return new UserError(message, { status })
  return new TrafficError(trouble, message, { status, findings: findings ?? [] })
}

interface HeavyOptions {
  readonly limitMs?: number
  readonly mostWaiting?: number
  /** Throws where whoever asks may not. */
  readonly onRun?: (job: JobName) => void
}

export function createHeavyWork({
  limitMs = LIMIT_MS,
  mostWaiting = MOST_WAITING,
  onRun,
}: HeavyOptions = {}): HeavyWork {
  const idle: Worker[] = []
  const all = new Set<Worker>()
  const waiting: Waiting[] = []
  const naps = new WeakMap<Worker, NodeJS.Timeout>()

  function start(): Worker {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    })
    worker.unref()
    all.add(worker)
    // Without a listener an error would end the process.
    worker.on('error', () => void end(worker))
    return worker
  }

  function end(worker: Worker): Promise<unknown> {
    all.delete(worker)
    clearTimeout(naps.get(worker))
    const place = idle.indexOf(worker)
    if (place >= 0) idle.splice(place, 1)
    return worker.terminate()
  }

  function next(): void {
    while (waiting.length > 0) {
      const worker = idle.pop() ?? (all.size < MOST_THREADS ? start() : undefined)
      if (!worker) return
      clearTimeout(naps.get(worker))
      work(worker, waiting.shift() as Waiting)
    }
  }

  function work(worker: Worker, { message, resolve, reject }: Waiting): void {
    const settle = (isFit: boolean, finish: () => void) => {
      clearTimeout(limit)
      worker.off('message', hear).off('error', fail).off('exit', exit)
      if (isFit) {
        idle.push(worker)
        naps.set(worker, setTimeout(() => void end(worker), IDLE_MS).unref())
      } else void end(worker)
      finish()
      next()
    }
    const begin = () => {
      limit = setTimeout(() => settle(false, () => reject(tooLong())), limitMs)
    }
    const hear = (answer: FromWorker) => {
      if ('isBegun' in answer) begin()
      else settle(true, () => ('failure' in answer ? reject(errorOf(answer.failure)) : resolve(answer.value)))
    }
    const fail = (error: Error) => {
      const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
      settle(false, () => reject(isMemory ? tooLong() : error))
    }
    const exit = () => settle(false, () => reject(new UserError('The server stops.', { status: 503 })))
    // Until a thread is loaded, on a busy machine for seconds, it has not begun.
    let limit: NodeJS.Timeout | undefined
    worker.on('message', hear).on('error', fail).on('exit', exit)
    worker.postMessage(message)
  }

  return {
    run: (job, ...args) =>
      new Promise((resolve, reject) => {
        onRun?.(job)
        if (waiting.length >= mostWaiting) {
          const busy = 'The server is busy with plans and simulations of others: try again in a few seconds.'
          reject(new UserError(busy, { status: 503 }))
          return
        }
        waiting.push({ message: { job, args }, resolve: resolve as Waiting['resolve'], reject })
        next()
      }),
    async close() {
      for (const { reject } of waiting.splice(0)) reject(new UserError('The server stops.', { status: 503 }))
      await Promise.all([...all].map(end))
    },
  }
}
