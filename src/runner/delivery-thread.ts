/** Processes deliveries in a thread of this process, each for a limited time. */
import { Worker } from 'node:worker_threads'
import type { Database } from '../database/database.ts'
import { UnavailableError } from '../errors.ts'
import type { Logger } from '../log.ts'
import { type DeliveryWork, note } from './delivery-work.ts'
import type { DeliverySetup, DeliveryStep, FromDeliveryWorker } from './delivery-worker.ts'
import type { Fence } from './fence.ts'

/** Ordinary deliveries take a fraction of a second. A user's pattern on a text that takes longer would delay all later ones. */
const LIMIT_MS = 60_000
/** A thread that was idle for this long is ended, to free its memory. */
const IDLE_MS = 60_000
const MEMORY_MB = 1024

const TOO_LONG = 'It takes too long to work through: make the patterns of the scope config simpler, then replay it.'

interface DeliveryThread extends DeliveryWork {
  close(): Promise<void>
}

export function createDeliveryThread(
  { database, fence, log }: { readonly database: Database; readonly fence: Fence; readonly log: Logger },
  signal: AbortSignal,
  limitMs = LIMIT_MS,
): DeliveryThread {
  let worker: Worker | undefined
  let nap: NodeJS.Timeout | undefined

  function start(): Worker {
    const setup: DeliverySetup = { databaseUrl: database.url(), fenceMemory: fence.memory }
    const made = new Worker(new URL('./delivery-worker.ts', import.meta.url), {
      workerData: setup,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    })
    made.unref()
    // Without a listener an error would end the process.
    made.on('error', () => {})
    made.on('exit', () => {
      if (worker === made) worker = undefined
    })
    return made
  }
  async function end(): Promise<void> {
    const ended = worker
    worker = undefined
    clearTimeout(nap)
    await ended?.terminate()
  }

  /** Sends one step to the thread. Also undefined when it was stopped or took too long; the inbox then records the latter. */
  async function ask(step: DeliveryStep): Promise<readonly string[] | undefined> {
    if (signal.aborted) return undefined
    clearTimeout(nap)
    worker ??= start()
    const own = worker
    const answer = await new Promise<FromDeliveryWorker | Error | 'stopped' | 'late'>((done) => {
      const settle = (value: FromDeliveryWorker | Error | 'stopped' | 'late') => {
        clearTimeout(limit)
        own.off('message', hear).off('error', settle).off('exit', exit)
        signal.removeEventListener('abort', stop)
        done(value)
      }
      const hear = (message: FromDeliveryWorker) => {
        if ('fault' in message) log.error({ delivery: step.id }, `a delivery could not be applied: ${message.fault}`)
        else if ('isBegun' in message) limit = setTimeout(() => settle('late'), limitMs)
        else settle(message)
      }
      const exit = () => settle(new Error('its thread ended'))
      const stop = () => settle('stopped')
      let limit: NodeJS.Timeout | undefined
      own.on('message', hear).on('error', settle).on('exit', exit)
      signal.addEventListener('abort', stop, { once: true })
      own.postMessage(step)
    })
    if (answer === 'stopped' || answer === 'late' || answer instanceof Error) {
      await end()
      if (answer instanceof Error) log.error({ err: answer, delivery: step.id }, 'a delivery broke its thread')
      if (answer !== 'stopped') await note(database, step.id, { state: 'failed', effect: TOO_LONG })
      return undefined
    }
    nap = setTimeout(() => void end(), IDLE_MS).unref()
    if ('away' in answer) throw new UnavailableError(answer.away)
    return 'names' in answer ? answer.names : undefined
  }

  return {
    leasesOf: (id) => ask({ step: 'leasesOf', id }),
    apply: async (id) => void (await ask({ step: 'apply', id })),
    close: end,
  }
}
