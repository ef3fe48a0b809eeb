/**
 * Where the true median lies among sorted values. It is above exactly `k` of `n` values with the chance that `k` of `n` thrown
 * coins show heads, whatever the values are. So no resampled list has to be sorted, and heavy tails do no harm.
 */

/** The least chance of a rank that is still looked at. */
const NEGLIGIBLE = 1e-12

interface Ranks {
  /** The first rank that is looked at. */
  readonly first: number
  /** The chance that the rank is at most `first`, `first + 1`, and so on. */
  readonly upTo: Float64Array
}

function ranksOf(size: number): Ranks {
  const middle = Math.floor(size / 2)
  const below: number[] = []
  const above: number[] = [1]
  // Relative to the chance of the middle rank, because the chances themselves are too small for a number.
  for (let rank = middle, chance = 1; rank > 0 && chance > NEGLIGIBLE; rank--) {
    chance *= rank / (size - rank + 1)
    below.push(chance)
  }
  for (let rank = middle, chance = 1; rank < size && chance > NEGLIGIBLE; rank++) {
    chance *= (size - rank) / (rank + 1)
    above.push(chance)
  }
  const chances = [...below.toReversed(), ...above]
  const whole = chances.reduce((sum, chance) => sum + chance, 0)
  const upTo = new Float64Array(chances.length)
  let sum = 0
  for (const [index, chance] of chances.entries()) {
    sum += chance / whole
    upTo[index] = sum
  }
  return { first: middle - below.length, upTo }
}

/** Returns the function that gives, for a share of all chances, the value that the true median reaches with that chance. */
export function medianAt(sorted: Float64Array): (share: number) => number {
  const { first, upTo } = ranksOf(sorted.length)
  const valueAfter = (rank: number) => sorted[Math.min(Math.max(rank, 1), sorted.length) - 1] as number
  return (share) => {
    let [low, high] = [0, upTo.length - 1]
    while (low < high) {
      const half = (low + high) >> 1
      if ((upTo[half] as number) > share) high = half
      else low = half + 1
    }
    const before = low === 0 ? 0 : (upTo[low - 1] as number)
    const within = Math.min(1, Math.max(0, (share - before) / ((upTo[low] as number) - before)))
    const [from, to] = [valueAfter(first + low), valueAfter(first + low + 1)]
    return from + (to - from) * within
  }
}
