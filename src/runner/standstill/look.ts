/** Gathers all facts from which causes of a standstill are detected. It ends in time, whatever the database does. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { ServiceContext } from '../../control-plane/services.ts'
import { selectRows } from '../../control-plane/store.ts'
import { tasks } from '../../system/pipelines.ts'
import { type Facts, NOTHING, readDatabase, readDisk } from './facts.ts'
import { createQueueReader, type QueueFacts } from './queue-facts.ts'
import { followRefusals } from './refusals.ts'
import type { Thresholds } from './thresholds.ts'

export type LookContext = Pick<ServiceContext, 'database' | 'dataFolder'>
export interface LookOptions {
  /** True when tasks run on workers. */
  readonly needsWorkers: boolean
  /** The clock of this machine. */
  readonly clock?: () => number
}
interface Look {
  now(): Promise<Facts>
  /** True when it is known of every server and worker whether it is alive. */
  isSure(): boolean
  stop(): void
}

export function createLook(
  { database, dataFolder }: LookContext,
  { needsWorkers, clock = Date.now }: LookOptions,
  { silentMs, noAnswerMs }: Thresholds,
): Look {
  const readQueue = createQueueReader(database, silentMs)
  const refusals = followRefusals()
  const askDatabase = inTime(noAnswerMs, () => readDatabase(database, clock))
  const askQueue = inTime(noAnswerMs, async (): Promise<QueueFacts | undefined> => {
    const asked = refusals.now().map(({ task }) => task)
    if (asked.length > 0) {
      const running = await selectRows(database.kysely, tasks, (query) =>
        query.where('id', 'in', asked).where('status', '=', 'TASK_RUNNING'),
      )
      refusals.keep(new Set(running.map(({ id }) => id)))
    }
    return readQueue(secondsOff)
  })
  let secondsOff = 0
  return {
    async now() {
      const [disk, answer = NOTHING.database] = await Promise.all([readDisk(dataFolder), askDatabase()])
      secondsOff = answer.clockOffsetSeconds ?? secondsOff
      const queue = answer.statementSeconds === undefined ? undefined : await askQueue().catch(() => undefined)
      return { disk, database: answer, queue, refusals: refusals.now(), needsWorkers }
    },
    isSure: readQueue.isSure,
    stop: refusals.stop,
  }
}

/**
 * Returns undefined when `ask` takes longer than the limit. It is not called again until it has ended, so that a slow database
 * gets no extra load.
 */
function inTime<Result>(limitMs: number, ask: () => Promise<Result>): () => Promise<Result | undefined> {
  let pending: Promise<Result> | undefined
  return async () => {
    const asked = pending ?? ask()
    pending = asked
    const forget = () => {
      if (pending === asked) pending = undefined
    }
    asked.then(forget, forget)
    const late = new AbortController()
    try {
      return await Promise.race([asked, sleep(limitMs, undefined, { signal: late.signal })])
    } finally {
      late.abort()
    }
  }
}
