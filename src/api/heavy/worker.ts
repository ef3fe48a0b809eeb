/** A thread that does one heavy job after another. */
import { parentPort } from 'node:worker_threads'
import { messageOf, RecordError, UnavailableError, UserError } from '../../errors.ts'
import { type JobName, loadJob } from './jobs.ts'

export interface ToWorker {
  readonly job: JobName
  readonly args: readonly unknown[]
}
export type FromWorker = { readonly value: unknown } | { readonly failure: Failure } | Begun
/** The thread has loaded what it needs: its time counts from now on. */
interface Begun {
  /** Milliseconds that the thread has spent on other jobs and on loading. */
  readonly computedBefore: number
}
export interface Failure {
  readonly message: string
  /** Missing if the fault is in Weir itself. */
  readonly status?: number
  /** Set if the client should try again after this time and is not at fault. */
  readonly retryAfterSeconds?: number
  /** The data that programs get besides the message. */
  readonly data?: unknown
}

function failureOf(error: unknown): Failure {
  // An error loses its class on the way out of the thread.
  const { message, status } = error as UserError
  if (error instanceof UserError) return { message, status, data: error.data }
  if (error instanceof UnavailableError) {
    return { message: error.publicMessage, status, retryAfterSeconds: error.retryAfterSeconds }
  }
  // Here the bad record is what the request sent.
  if (error instanceof RecordError) return { message: `${message}.`, status: 400 }
  if (error instanceof RangeError) return { message: 'It is nested too deeply: make it flatter.', status: 400 }
  return { message: messageOf(error) }
}

parentPort?.on('message', async ({ job, args }: ToWorker) => {
  let answer: FromWorker
  try {
    const act = await loadJob(job)
    const { user, system } = process.threadCpuUsage()
    parentPort?.postMessage({ computedBefore: (user + system) / 1000 } satisfies FromWorker)
    answer = { value: await act(...args) }
  } catch (error) {
    answer = { failure: failureOf(error) }
  }
  parentPort?.postMessage(answer)
})
