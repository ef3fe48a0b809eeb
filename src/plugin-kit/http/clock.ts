import { setTimeout as delay } from 'node:timers/promises'

/** Time and random numbers, injectable so that no test depends on either. */
export interface Clock {
  now(): number
  /** Rejects with the signal's reason as soon as it aborts. */
  sleep(milliseconds: number, signal: AbortSignal): Promise<void>
  /** A number from 0 up to, but not including, 1. */
  random(): number
}

/** Long sleeps are divided, so that a suspended machine wakes up in time, and setTimeout's limit of 24 days does not matter. */
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
