/** Deterministic randomness: the same seed, salt and keys always give the same value, so nothing has to be stored. */
export interface Dice {
  integer(salt: string, minimum: number, maximum: number, ...keys: number[]): number
  chance(salt: string, probability: number, ...keys: number[]): boolean
  pick<T>(salt: string, choices: readonly T[], ...keys: number[]): T
  /** Returns up to `count` different members of `choices`. */
  some<T>(salt: string, choices: readonly T[], count: number, ...keys: number[]): T[]
  hex(salt: string, length: number, ...keys: number[]): string
}

export function dice(seed: number): Dice {
  const roll = (salt: string, keys: readonly number[]): number => {
    let state = mix(seed, salt.length)
    for (let position = 0; position < salt.length; position++) state = mix(state, salt.charCodeAt(position))
    for (const key of keys) state = mix(mix(state, key >>> 0), Math.floor(key / 2 ** 32))
    return finish(state)
  }
  const integer: Dice['integer'] = (salt, minimum, maximum, ...keys) =>
    minimum + (roll(salt, keys) % (maximum - minimum + 1))
  return {
    integer,
    chance: (salt, probability, ...keys) => roll(salt, keys) < probability * 2 ** 32,
    pick: (salt, choices, ...keys) => choices[roll(salt, keys) % choices.length]!,
    some: (salt, choices, count, ...keys) => {
      const start = choices.length === 0 ? 0 : roll(salt, keys) % choices.length
      return Array.from({ length: Math.min(count, choices.length) }, (_, k) => choices[(start + k) % choices.length]!)
    },
    hex: (salt, length, ...keys) => {
      let digits = ''
      for (let part = 0; digits.length < length; part++)
        digits += roll(salt, [...keys, part])
          .toString(16)
          .padStart(8, '0')
      return digits.slice(0, length)
    },
  }
}

function mix(state: number, value: number): number {
  const mixed = Math.imul(state ^ value, 0x9e3779b1)
  return (mixed ^ (mixed >>> 15)) >>> 0
}

// The last steps of MurmurHash3: https://github.com/aappleby/smhasher/wiki/MurmurHash3
function finish(state: number): number {
  let value = Math.imul(state ^ (state >>> 16), 0x85ebca6b)
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35)
  return (value ^ (value >>> 16)) >>> 0
}
