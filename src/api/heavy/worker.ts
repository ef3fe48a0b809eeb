/** A thread that does one heavy job after another. */
import { parentPort } from 'node:worker_threads'
import { messageOf, RecordError, UnavailableError, UserError } from '../../errors.ts'
import { TrafficError, type Trouble } from '../../traffic/model/finding.ts'
import { type JobName, jobs, load } from './jobs.ts'

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
  readonly trouble?: Trouble
  readonly findings?: TrafficError['findings']
}

function failureOf(error: unknown): Failure {
  // An error loses its class on the way out of the thread.
  const { message, status } = error as UserError
  if (error instanceof TrafficError) return { message, status, trouble: error.trouble, findings: error.findings }
  if (error instanceof UserError) return { message, status }
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
    await load(job)
    const { user, system } = process.threadCpuUsage()
    parentPort?.postMessage({ computedBefore: (user + system) / 1000 } satisfies FromWorker)
    answer = { value: await (jobs[job] as (...args: readonly unknown[]) => unknown)(...args) }
  } catch (error) {
    answer = { failure: failureOf(error) }
  }
  parentPort?.postMessage(answer)
})
