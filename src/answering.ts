/**
 * The thread that answers requests parses and matches nothing of a size that a user decides: everybody would wait for it.
 * Tasks and heavy jobs do that in their threads.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { FatalError } from './errors.ts'

const answering = new AsyncLocalStorage<boolean>()
/** What is done within answers a request. */
export const whileAnswering = <Result>(act: () => Result): Result => answering.run(true, act)
/** What a request has started, and does not answer it; or what is as small as the program made it. */
export const besideAnswers = <Result>(act: () => Result): Result => answering.run(false, act)

/** At the beginning of what may take long; `what` is the beginning of a sentence, such as "A CSV file would be read". */
export function refuseWhileAnswering(what: string): void {
  if (answering.getStore()) throw new FatalError(`${what} in the thread that answers requests: use a heavy job.`)
}
