/** Runs tasks in threads of this process, so that the API answers while they work. */
import { Worker } from 'node:worker_threads'
import { createFence } from './fence.ts'
import type { DispatchedTask, TaskDispatch, TaskOutcome } from './task-dispatch.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './task-worker.ts'

/** Each thread holds a heap and database connections; what is past this number waits its turn. */
const MOST_THREADS = 8
/** A thread that has had nothing to do for so long gives its memory back. */
const IDLE_MS = 60_000
/** A task that was asked to stop and is busy computing does not hear it: then its thread ends with it. */
const OBEY_MS = 700

interface Thread {
  readonly worker: Worker
  /** Tasks under way; several only when they share a connection, whose pacing and quota live in the thread. */
  tasks: number
  connection: string | null
  nap: NodeJS.Timeout | undefined
  /** Ended by us: its other tasks are not to blame. */
  isEnding: boolean
}

const failed = (message: string): TaskOutcome => ({
  status: 'TASK_FAILED',
  message,
  errorName: 'FatalError',
  failedSubTask: '',
})

export function createTaskThreads(setup: Omit<WorkerSetup, 'fenceMemory'>): TaskDispatch {
  const fence = createFence()
  const threads = new Set<Thread>()
  const waiting = new Set<() => void>()
  const wakeOne = () => {
    const [first] = waiting
    if (first) waiting.delete(first)
    first?.()
  }

  function start(): Thread {
    const worker = new Worker(new URL('./task-worker.ts', import.meta.url), {
      workerData: { ...setup, fenceMemory: fence.memory } satisfies WorkerSetup,
      execArgv: [],
      // A heap that may grow to gigabytes is collected late: this one takes a third less, and still holds the largest page.
      resourceLimits: { maxYoungGenerationSizeMb: 48, maxOldGenerationSizeMb: 1024 },
    })
    // Many tasks may listen to one.
    worker.setMaxListeners(0)
    const thread: Thread = { worker, tasks: 0, connection: null, nap: undefined, isEnding: false }
    threads.add(thread)
    worker.once('exit', () => {
      threads.delete(thread)
      clearTimeout(thread.nap)
      wakeOne()
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

  /** Undefined when the signal is given while all threads are busy. */
  async function take({ connection }: DispatchedTask, signal: AbortSignal): Promise<Thread | undefined> {
    while (!signal.aborted) {
      const thread = choose(connection)
      if (thread) {
        clearTimeout(thread.nap)
        thread.tasks++
        thread.connection = connection
        return thread
      }
      await new Promise<void>((done) => {
        waiting.add(done)
        signal.addEventListener('abort', () => waiting.delete(done) && done(), { once: true })
      })
    }
    // It may have been woken for a thread that it will not take now.
    wakeOne()
    return undefined
  }

  function give(thread: Thread): void {
    thread.tasks--
    if (thread.tasks === 0) thread.nap = setTimeout(() => end(thread), IDLE_MS).unref()
    wakeOne()
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
      const fail = (error: Error) => settle(failed(`The thread of this task crashed: ${error.message}`))
      const exit = () => {
        if (signal.aborted) settle({ status: 'TASK_CANCELLED' })
        else settle(thread.isEnding ? undefined : failed('The thread of this task ended unexpectedly.'))
      }
      worker.on('message', hear).on('error', fail).on('exit', exit)
      worker.postMessage({ run: taskId } satisfies ToWorker)
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    })
  }

  return {
    fence,
    async run(task, signal, begin) {
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
    },
    async close() {
      await Promise.all([...threads].map(({ worker }) => worker.terminate()))
    },
  }
}
