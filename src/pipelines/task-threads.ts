/** Runs tasks in threads of this process, so that the API answers while they work. */
import { Worker } from 'node:worker_threads'
import type { TaskDispatch, TaskOutcome } from './task-dispatch.ts'
import type { FromWorker, ToWorker, WorkerSetup } from './task-worker.ts'

/** Each thread holds a heap and database connections; what is past this number waits its turn. */
const MOST_THREADS = 8
/** A task that was asked to stop and is busy computing does not hear it: then its thread ends with it. */
const OBEY_MS = 700

const failed = (message: string): TaskOutcome => ({
  status: 'TASK_FAILED',
  message,
  errorName: 'FatalError',
  failedSubTask: '',
})

export function createTaskThreads(setup: WorkerSetup): TaskDispatch {
  const idle: Worker[] = []
  const all = new Set<Worker>()
  const waiting: (() => void)[] = []

  function start(): Worker {
    const worker = new Worker(new URL('./task-worker.ts', import.meta.url), { workerData: setup, execArgv: [] })
    all.add(worker)
    worker.once('exit', () => {
      all.delete(worker)
      const position = idle.indexOf(worker)
      if (position >= 0) idle.splice(position, 1)
      waiting.shift()?.()
    })
    // Also while idle: an error without a listener would end the process.
    worker.on('error', () => {})
    return worker
  }

  async function take(): Promise<Worker> {
    for (;;) {
      const worker = idle.pop() ?? (all.size < MOST_THREADS ? start() : undefined)
      if (worker) return worker
      await new Promise<void>((done) => waiting.push(done))
    }
  }

  const give = (worker: Worker) => {
    if (all.has(worker)) idle.push(worker)
    waiting.shift()?.()
  }

  function runOn(worker: Worker, taskId: number, signal: AbortSignal): Promise<TaskOutcome> {
    return new Promise((resolve) => {
      let deadline: NodeJS.Timeout | undefined
      const settle = (outcome: TaskOutcome) => {
        clearTimeout(deadline)
        signal.removeEventListener('abort', abort)
        worker.off('message', hear).off('error', fail).off('exit', exit)
        resolve(outcome)
      }
      const abort = () => {
        worker.postMessage({ abort: taskId } satisfies ToWorker)
        deadline = setTimeout(() => void worker.terminate(), OBEY_MS)
      }
      const hear = (message: FromWorker) => settle(message.outcome)
      const fail = (error: Error) => settle(failed(`The thread of this task broke down: ${error.message}`))
      const exit = () =>
        settle(signal.aborted ? { status: 'TASK_CANCELLED' } : failed('The thread of this task ended unexpectedly.'))
      worker.on('message', hear).on('error', fail).on('exit', exit)
      worker.postMessage({ run: taskId } satisfies ToWorker)
      if (signal.aborted) abort()
      else signal.addEventListener('abort', abort, { once: true })
    })
  }

  return {
    async run(taskId, signal) {
      const worker = await take()
      try {
        return signal.aborted ? { status: 'TASK_CANCELLED' } : await runOn(worker, taskId, signal)
      } finally {
        give(worker)
      }
    },
    async close() {
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}
