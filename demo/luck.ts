import { dice } from '../tests/fake-github/world/dice.ts'

/** Chance that comes out the same every time, one throw after the other. */
export interface Luck {
  /** From 0 up to 1. */
  next(): number
  whole(from: number, to: number): number
  chance(share: number): boolean
  pick<T>(of: readonly T[]): T
  some<T>(of: readonly T[], count: number): T[]
  /** Around 1, now and then far above it: how long things take. */
  spread(): number
}

export function luckOf(seed: number): Luck {
  const { integer } = dice(seed)
  let throws = 0
  const whole = (from: number, to: number) => integer('story', from, to, ++throws)
  const next = () => whole(0, 1e9) / 1e9
  return {
    next,
    whole,
    chance: (share) => next() < share,
    pick: (of) => of[whole(0, of.length - 1)]!,
    some(of, count) {
      const left = [...of]
      return Array.from({ length: Math.min(count, left.length) }, () => left.splice(whole(0, left.length - 1), 1)[0]!)
    },
    spread: () => Math.exp((next() + next() + next() - 1.5) * 1.4),
  }
}
