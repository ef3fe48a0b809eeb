/** Runs tasks in threads of this process, so that the API answers while they work. */
import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { createFence } from './fence.ts'
import type { Begin, HandedTask, TaskDispatch, TaskOutcome } from './task-dispatch.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './task-worker.ts'

/** Each thread needs a heap and database connections. Tasks beyond this number wait. */
export const MOST_THREADS = 8
/** Enough for the largest page. */
const HEAP_MB = 1024
/** A thread that was idle for this long is ended, to free its memory. */
const IDLE_MS = 60_000
/** A task that is busy computing does not notice a request to stop. After this long its thread is ended. */
const OBEY_MS = 700

interface Thread {
  readonly worker: Worker
  readonly id: string
  /** The number of running tasks. There are several only when they share a connection, whose pacing and quota are kept in the thread. */
  tasks: number
  connection: string | null
  nap: NodeJS.Timeout | undefined
  /** True when this process ended the thread, so that its other tasks are not to blame. */
  isEnding: boolean
}

/** The outcome of all tasks of a thread that broke down. Any of them may be the reason. */
const brokenDown = ({ id: incident }: Thread, cause: string): TaskOutcome => ({
  status: 'TASK_RESUME',
  message: `The thread that ran it broke down: ${cause}.`,
  interruption: { incident, isLoss: true, cause },
})
const isOutOfMemory = (error: Error) => (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY'
const causeOf = (error: Error) =>
  isOutOfMemory(error) ? `out of memory (a thread may have ${HEAP_MB} MB)` : `a crash (${error.message})`

export function createTaskThreads(setup: Omit<WorkerSetup, 'fenceMemory'>): TaskDispatch {
  const fence = createFence()
  const threads = new Set<Thread>()
  /** Tasks that wait, in order of arrival. Each checks again when woken, and those that keep waiting keep their order. */
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const look of [...waiting]) look()
  }
  /** Tasks that run alone or wait to do so. Meanwhile no other task begins. */
  const alone: HandedTask[] = []
  const mayBegin = (task: HandedTask) =>
    alone.length === 0 || (alone[0] === task && [...threads].every(({ tasks }) => tasks === 0))

  function start(): Thread {
    const worker = new Worker(new URL('./task-worker.ts', import.meta.url), {
      workerData: { ...setup, fenceMemory: fence.memory } satisfies WorkerSetup,
      execArgv: [],
      // V8 collects a heap late if it may grow to gigabytes. This limit needs a third less memory.
      resourceLimits: { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: HEAP_MB },
    })
    // Many tasks may listen to one thread.
    worker.setMaxListeners(0)
    const thread: Thread = { worker, id: randomUUID(), tasks: 0, connection: null, nap: undefined, isEnding: false }
    threads.add(thread)
    worker.once('exit', () => {
      threads.delete(thread)
      clearTimeout(thread.nap)
      wake()
    })
    // A broken thread gets no further tasks. Without a listener its error would end the process.
    worker.on('error', () => threads.delete(thread))
    return thread
  }

  function end(thread: Thread): void {
    thread.isEnding = true
    threads.delete(thread)
    void thread.worker.terminate()
  }

  function choose(connection: string | null): Thread | undefined {
    const all = [...threads]
    const own = connection === null ? undefined : all.find((thread) => thread.connection === connection)
    const idle = own ?? all.find(({ tasks }) => tasks === 0)
    return idle ?? (threads.size < MOST_THREADS ? start() : undefined)
  }

  const untilWoken = (signal: AbortSignal) =>
    new Promise<void>((done) => {
      const go = () => {
        waiting.delete(go)
        signal.removeEventListener('abort', go)
        done()
      }
      waiting.add(go)
      signal.addEventListener('abort', go)
    })

  /** Returns undefined when the signal is aborted while all threads are busy. */
  async function take(task: HandedTask, signal: AbortSignal): Promise<Thread | undefined> {
    const { connection } = task
    while (!signal.aborted) {
      const thread = mayBegin(task) ? choose(connection) : undefined
      if (thread) {
        clearTimeout(thread.nap)
        thread.tasks++
        thread.connection = connection
        return thread
      }
      await untilWoken(signal)
    }
    return undefined
  }

  function give(thread: Thread): void {
    thread.tasks--
    if (thread.tasks === 0) thread.nap = setTimeout(() => end(thread), IDLE_MS).unref()
    wake()
  }

  /** Returns undefined when the thread was ended because of another task. */
  function runOn(thread: Thread, taskId: number, signal: AbortSignal): Promise<TaskOutcome | undefined> {
    const { worker } = thread
    return new Promise((resolve) => {
      let deadline: NodeJS.Timeout | undefined
      const settle = (outcome: TaskOutcome | undefined) => {
        clearTimeout(deadline)
        signal.removeEventListener('abort', abort)
        worker.off('message', hear).off('error', fail).off('exit', exit)
        resolve(outcome)
      }
      const abort = () => {
        worker.postMessage({ abort: taskId } satisfies ToWorker)
        deadline = setTimeout(() => end(thread), OBEY_MS)
      }
      const hear = (message: FromWorker) => message.taskId === taskId && settle(message.outcome)
      const fail = (error: Error) => settle(brokenDown(thread, causeOf(error)))
      const exit = (code: number) => {
        if (signal.aborted) settle({ status: 'TASK_CANCELLED' })
        else settle(thread.isEnding ? undefined : brokenDown(thread, `it ended by itself with code ${code}`))
      }
      worker.on('message', hear).on('error', fail).on('exit', exit)
      worker.postMessage({ run: taskId } satisfies ToWorker)
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    })
  }

  async function runInThread(task: HandedTask, signal: AbortSignal, begin: Begin): Promise<TaskOutcome | undefined> {
    for (let isBegun = false; ; ) {
      const thread = await take(task, signal)
      if (!thread) return isBegun ? { status: 'TASK_CANCELLED' } : undefined
      try {
        isBegun ||= await begin()
        if (!isBegun) return undefined
        const outcome = await runOn(thread, task.id, signal)
        if (outcome) return outcome
      } finally {
        give(thread)
      }
    }
  }

  return {
    fence,
    async run(task, signal, begin) {
      if (task.isAlone) alone.push(task)
      try {
        return await runInThread(task, signal, begin)
      } finally {
        if (task.isAlone) alone.splice(alone.indexOf(task), 1)
        wake()
      }
    },
    async close() {
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}
