/**
 * The thread that answers requests must not parse or match anything whose size a user decides, because all users would wait
 * for it. Tasks and heavy jobs do such work in their own threads.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { FatalError } from '../errors.ts'

const answering = new AsyncLocalStorage<boolean>()
/** Marks the work in `act` as answering a request. */
export const whileAnswering = <Result>(act: () => Result): Result => answering.run(true, act)
/** Marks work as not answering a request: work that a request only started, or whose size is limited by the program. */
export const besideAnswers = <Result>(act: () => Result): Result => answering.run(false, act)

/** Called at the beginning of work that may take long. `what` is the beginning of a sentence, such as "A CSV file would be read". */
export function refuseWhileAnswering(what: string): void {
  if (answering.getStore()) throw new FatalError(`${what} in the thread that answers requests: use a heavy job.`)
}
