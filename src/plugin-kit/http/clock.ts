import { setTimeout as delay } from 'node:timers/promises'

/** Time and chance, injectable so that no test depends on either. */
export interface Clock {
  now(): number
  /** Rejects with the signal's reason as soon as it aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  /** From 0 up to, but without, 1. */
  random(): number
}

/** Long sleeps are taken in steps, so that a suspended machine wakes by the wall clock, and setTimeout's 24 days suffice. */
const LONGEST_STEP = 60_000

export const systemClock: Clock = {
  now: Date.now,
  random: Math.random,
  async sleep(milliseconds, signal) {
    const end = Date.now() + milliseconds
    for (let remaining = milliseconds; remaining > 0; remaining = end - Date.now()) {
      signal.throwIfAborted()
      await delay(Math.min(remaining, LONGEST_STEP), undefined, { signal }).catch((error) => {
        throw signal.aborted ? signal.reason : error
      })
    }
    signal.throwIfAborted()
  },
}

/** Settles as `promise` does, or rejects as soon as the signal aborts; the promise itself continues. */
export function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  if (signal.aborted) return Promise.reject(signal.reason)
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
