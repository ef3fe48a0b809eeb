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
/** It has loaded what it needs; from now on its time counts. */
interface Begun {
  /** Milliseconds that the thread has computed for other jobs, and to load. */
  readonly computedBefore: number
}
export interface Failure {
  readonly message: string
  /** Missing: nobody's fault but ours. */
  readonly status?: number
  /** It is to be tried again then: nobody's fault who asks. */
  readonly retryAfterSeconds?: number
  readonly trouble?: Trouble
  readonly findings?: TrafficError['findings']
}

function failureOf(error: unknown): Failure {
  // Errors of all kinds lose their class on the way.
  const { message, status } = error as UserError
  if (error instanceof TrafficError) return { message, status, trouble: error.trouble, findings: error.findings }
  if (error instanceof UserError) return { message, status }
  if (error instanceof UnavailableError) {
    return { message: error.publicMessage, status, retryAfterSeconds: error.retryAfterSeconds }
  }
  // Whatever a request brings is the record.
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
