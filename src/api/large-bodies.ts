/**
 * Several large bodies that arrive together would be parsed and checked one right after another, and nobody would be answered
 * until the last is done. So each gets its own turn, and other requests are handled in between.
 */
import { setImmediate } from 'node:timers/promises'

/** Takes a few milliseconds to parse. */
const LARGE = 64 * 1024
/** Rounds of the event loop between two bodies: enough to accept a connection, read its request and answer it. */
const ROUNDS = 5

type TurnForSize = (size: number) => Promise<void>

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
