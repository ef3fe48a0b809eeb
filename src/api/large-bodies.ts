/**
 * Several large bodies that arrive together would be parsed and checked one right after another, and nobody would be answered
 * until the last is done. Each gets a turn of its own, and others get theirs in between.
 */
import { setImmediate } from 'node:timers/promises'

/** A few milliseconds of work. */
const LARGE = 64 * 1024
/** Rounds of the event loop in between: enough for a connection to be accepted, its request to be read and answered. */
const ROUNDS = 5

export type TurnForSize = (size: number) => Promise<void>

export function turnsForLargeBodies(): TurnForSize {
  let last: Promise<unknown> = Promise.resolve()
  return async (size) => {
    if (size <= LARGE) return
    const turn = last.then(letOthersGo)
    last = turn
    await turn
  }
}

async function letOthersGo(): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) await setImmediate()
}
