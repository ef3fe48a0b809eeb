/** Runs tasks in threads of this process, so that the API answers while they work. */
import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import { createFence } from './fence.ts'
import type { Begin, HandedTask, TaskDispatch, TaskOutcome } from './task-dispatch.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './task-worker.ts'

/** Each thread holds a heap and database connections; what is past this number waits its turn. */
export const MOST_THREADS = 8
/** Holds the largest page. */
const HEAP_MB = 1024
/** A thread that has had nothing to do for so long gives its memory back. */
const IDLE_MS = 60_000
/** A task that was asked to stop and is busy computing does not hear it: then its thread ends with it. */
const OBEY_MS = 700

interface Thread {
  readonly worker: Worker
  readonly id: string
  /** Tasks under way; several only when they share a connection, whose pacing and quota live in the thread. */
  tasks: number
  connection: string | null
  nap: NodeJS.Timeout | undefined
  /** Ended by us: its other tasks are not to blame. */
  isEnding: boolean
}

/** All tasks of the thread are lost, and any of them may be the reason. */
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
  /** In the order in which they came; each that is woken looks again, and those that must wait on keep their order. */
  const waiting = new Set<() => void>()
  const wake = () => {
    for (const look of [...waiting]) look()
  }
  /** Tasks that run alone, or wait for that: meanwhile no other begins. */
  const alone: HandedTask[] = []
  const mayBegin = (task: HandedTask) =>
    alone.length === 0 || (alone[0] === task && [...threads].every(({ tasks }) => tasks === 0))

  function start(): Thread {
    const worker = new Worker(new URL('./task-worker.ts', import.meta.url), {
      workerData: { ...setup, fenceMemory: fence.memory } satisfies WorkerSetup,
      execArgv: [],
      // A heap that may grow to gigabytes is collected late: this one takes a third less.
      resourceLimits: { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: HEAP_MB },
    })
    // Many tasks may listen to one.
    worker.setMaxListeners(0)
    const thread: Thread = { worker, id: randomUUID(), tasks: 0, connection: null, nap: undefined, isEnding: false }
    threads.add(thread)
    worker.once('exit', () => {
      threads.delete(thread)
      clearTimeout(thread.nap)
      wake()
    })
    // A broken thread takes no further task; without a listener its error would end the process.
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

  /** Undefined when the signal is given while all threads are busy. */
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

  /** Undefined when the thread was ended because of another task. */
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
