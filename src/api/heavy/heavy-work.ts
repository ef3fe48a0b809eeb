/** Runs heavy work outside the thread that answers requests: with few threads, a short queue, and limits for everything. */
import { Worker } from 'node:worker_threads'
import { UnavailableError, UserError } from '../../errors.ts'
import type { JobName, Jobs } from './jobs.ts'
import type { Failure, FromWorker, ToWorker } from './worker.ts'

const MOST_THREADS = 2
const MOST_WAITING = 32
/** Limit of computing time. Jobs within the limits of their size need a tenth of it. */
const LIMIT_MS = 10_000
/** On a busy machine the same work takes longer. The server waits this many times the limit for it. */
const PATIENCE = 3
/** A thread that takes longer than this to report its computing time is getting no processor time. */
const SILENCE_MS = 5000
/** A thread that was idle for this long is ended, to free its memory. */
const IDLE_MS = 60_000
const MEMORY_MB = 512

export interface HeavyWork {
  run<Name extends JobName>(job: Name, ...args: Parameters<Jobs[Name]>): Promise<Awaited<ReturnType<Jobs[Name]>>>
  /** Runs `act` in the calling thread. Only for parts of a job so small that nobody notices. */
  here<Result>(job: JobName, act: () => Result): Result
  close(): Promise<void>
}

interface Waiting {
  readonly message: ToWorker
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

const tooMuch = (what: 'long' | 'much memory') =>
  new UserError(`This takes too ${what} to work through: send less at once, or something simpler.`, { status: 413 })
/** The request itself is not at fault: it may succeed later. */
const busy = (why: string) => new UnavailableError(`${why}: try again in a few seconds.`)
const stopping = () => busy('The server stops')

function errorOf({ message, status, data, retryAfterSeconds }: Failure): Error {
  if (status === undefined) return new Error(message)
  if (retryAfterSeconds !== undefined) return new UnavailableError(message, { retryAfterSeconds })
  return new UserError(message, { status, data })
}

/** Computing time in milliseconds, since the thread started. */
const computedBy = async (worker: Worker): Promise<number> => {
  const { user, system } = await worker.cpuUsage()
  return (user + system) / 1000
}

interface HeavyOptions {
  /** Limit of computing time for one job; time spent waiting does not count. */
  readonly limitMs?: number
  /** Limit of elapsed time for one job, however little it computes. */
  readonly patienceMs?: number
  readonly mostWaiting?: number
  /** Throws if the current route may not use threads. */
  readonly onRun?: (job: JobName) => void
}

export function createHeavyWork({
  limitMs = LIMIT_MS,
  patienceMs = PATIENCE * limitMs,
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
    // Without a listener, an error would end the process.
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
    let limit: NodeJS.Timeout | undefined
    let isSettled = false
    const settle = (isFit: boolean, finish: () => void) => {
      if (isSettled) return
      isSettled = true
      clearTimeout(limit)
      worker.off('message', hear).off('error', fail).off('exit', exit)
      if (isFit) {
        idle.push(worker)
        naps.set(worker, setTimeout(() => void end(worker), IDLE_MS).unref())
      } else void end(worker)
      finish()
      next()
    }
    // The time of a job begins once the thread is loaded, which can take seconds on a busy machine.
    const begin = (computedBefore: number) => {
      const began = performance.now()
      const lookAfter = (ms: number) => {
        limit = setTimeout(() => void look(), Math.max(1, ms))
      }
      const look = async () => {
        const giveUp = () => settle(false, () => reject(busy('The server has too much to do at once')))
        limit = setTimeout(giveUp, SILENCE_MS)
        const total = await computedBy(worker).catch(() => undefined)
        if (isSettled || total === undefined) return
        clearTimeout(limit)
        const computed = total - computedBefore
        const waited = performance.now() - began
        if (computed >= limitMs) settle(false, () => reject(tooMuch('long')))
        else if (waited >= patienceMs) giveUp()
        else lookAfter(Math.min(limitMs - computed, patienceMs - waited))
      }
      lookAfter(Math.min(limitMs, patienceMs))
    }
    const hear = (answer: FromWorker) => {
      if ('computedBefore' in answer) begin(answer.computedBefore)
      else settle(true, () => ('failure' in answer ? reject(errorOf(answer.failure)) : resolve(answer.value)))
    }
    const fail = (error: Error) => {
      const isMemory = (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
      settle(false, () => reject(isMemory ? tooMuch('much memory') : error))
    }
    const exit = () => settle(false, () => reject(stopping()))
    worker.on('message', hear).on('error', fail).on('exit', exit)
    worker.postMessage(message)
  }

  return {
    run: (job, ...args) =>
      new Promise((resolve, reject) => {
        onRun?.(job)
        if (waiting.length >= mostWaiting) {
          reject(busy('The server is busy with what others have sent'))
          return
        }
        waiting.push({ message: { job, args }, resolve: resolve as Waiting['resolve'], reject })
        next()
      }),
    here(job, act) {
      onRun?.(job)
      return act()
    },
    async close() {
      for (const { reject } of waiting.splice(0)) reject(stopping())
      await Promise.all([...all].map(end))
    },
  }
}
