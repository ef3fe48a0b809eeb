/** The queue in Redis: it wakes workers, and tells servers that something has ended. What is true is in the database. */
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import { messageOf } from '../../errors.ts'
import type { Logger } from '../../log.ts'
import type { QueuePlace } from './queue-place.ts'

/** Names an attempt at a task; everything else about it is in the database. */
export interface Job {
  readonly taskId: number
  readonly token: string
  /** Lower comes first. */
  readonly position: number
}

export interface TaskQueue {
  /** Those that are in the queue already stay as they are. False: Redis is away, and it has to be tried again. */
  add(jobs: readonly Job[]): Promise<boolean>
  /** Tells all servers that workers have taken or ended tasks. */
  announce(): void
  onNews(listener: () => void): void
  close(): Promise<void>
}

export interface JobTaker {
  /** Takes nothing new; what is under way goes on. */
  pause(): Promise<void>
  close(): Promise<void>
}

/** BullMQ knows no greater number. */
const LAST_PRIORITY = 2_097_152
const PATIENCE_MS = 2000
const JOB = 'task'
/** A worker that took a job and died before it took the task: others get the job so much later. */
const LOCK_MS = 10_000

/** Says once that Redis is away, and once that it is back. */
function connect({ url }: QueuePlace, log: Logger, options: { readonly waits: boolean }): Redis {
  const client = new Redis(url, {
    ...(options.waits
      ? { maxRetriesPerRequest: null }
      : { maxRetriesPerRequest: 1, enableOfflineQueue: false, commandTimeout: PATIENCE_MS }),
    retryStrategy: (times) => Math.min(100 * times, 1000),
  })
  let isAway = false
  client.on('error', (error) => {
    if (!isAway) log.warn(`Redis does not answer; tasks wait until it is back: ${messageOf(error)}`)
    isAway = true
  })
  client.on('ready', () => {
    if (isAway) log.info('Redis is back')
    isAway = false
  })
  return client
}

/** Ends within a moment, also when nobody is there to say goodbye to. */
const withoutWaiting = (closing: Promise<unknown>): Promise<void> =>
  Promise.race([closing.catch(() => {}), new Promise((done) => setTimeout(done, PATIENCE_MS).unref())]).then(() => {})

/** Asked with a connection of its own. */
export async function isRedisReachable(url: string): Promise<boolean> {
  const client = new Redis(url, {
    ...{ lazyConnect: true, enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy: () => null },
    ...{ connectTimeout: PATIENCE_MS, commandTimeout: PATIENCE_MS },
  })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.ping()
    return true
  } catch {
    return false
  } finally {
    client.disconnect()
  }
}

export function openTaskQueue(place: QueuePlace, log: Logger): TaskQueue {
  const commands = connect(place, log, { waits: false })
  const news = connect(place, log.child({}, { level: 'silent' }), { waits: true })
  let queue: Queue | undefined
  // Not before: made without a connection, it would never work.
  commands.once('ready', () => {
    queue = new Queue(place.name, { connection: commands })
    // The connection itself tells of it.
    queue.on('error', () => {})
  })
  const channel = `${place.name}-news`
  news.subscribe(channel).catch(() => {})
  return {
    async add(jobs) {
      if (!queue) return false
      try {
        await queue.addBulk(
          jobs.map(({ taskId, token, position }) => ({
            name: JOB,
            data: { taskId, token },
            opts: {
              jobId: token,
              priority: Math.min(position, LAST_PRIORITY),
              removeOnComplete: true,
              removeOnFail: true,
            },
          })),
        )
        return true
      } catch {
        return false
      }
    },
    announce: () => void commands.publish(channel, '').catch(() => {}),
    onNews: (listener) => news.on('message', listener),
    async close() {
      if (queue) await withoutWaiting(queue.close())
      commands.disconnect()
      news.disconnect()
    },
  }
}

/** `take` gets each job; what it does with it Redis need not know. */
export function takeJobs(
  place: QueuePlace,
  concurrency: number,
  log: Logger,
  take: (job: Omit<Job, 'position'>) => Promise<void>,
): JobTaker {
  const connection = connect(place, log, { waits: true })
  const worker = new Worker(place.name, async ({ data }) => take(data), {
    connection,
    concurrency,
    lockDuration: LOCK_MS,
    stalledInterval: LOCK_MS / 2,
    // Of an error of Redis alone.
    runRetryDelay: 1000,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
  })
  // That Redis is away the connection tells; a job that is gone from it was added again, or has ended.
  worker.on('error', () => {})
  return {
    pause: () => withoutWaiting(worker.pause(true)),
    async close() {
      await withoutWaiting(worker.close(true))
      connection.disconnect()
    },
  }
}
