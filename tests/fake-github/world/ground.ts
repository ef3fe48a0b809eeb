import { type Dice, dice } from './dice.ts'
import { databaseId, type Kind, nodeId } from './ids.ts'
import type { People } from './people.ts'
import type { Amount, RepositorySettings, WorldSettings } from './settings.ts'

/** The shared basis of all generators of a repository's records. */
export interface Ground {
  /** The position of the repository in the world. */
  readonly ordinal: number
  readonly settings: RepositorySettings
  readonly people: People
  readonly luck: Dice
  /** The time of the `index`th of `total` events, spread evenly. Every seventh has the same time as the one before. */
  moment(index: number, total: number): string
  /** A time `seconds` later, but never after the end of the generated world, unless the given time is itself later. */
  later(time: string, seconds: number): string
  identify(kind: Kind, index: number): { index: number; id: number; nodeId: string }
  amount(salt: string, amount: Amount, key: number): number
  person(salt: string, ...keys: number[]): string
}

export function ground(settings: RepositorySettings, ordinal: number, people: People, world: WorldSettings): Ground {
  const luck = dice(world.seed * 1_000_003 + ordinal)
  const from = Date.parse(world.from)
  const until = Date.parse(world.until)
  return {
    ordinal,
    settings,
    people,
    luck,
    moment: (index, total) => {
      const slot = index % 7 === 0 ? index - 1 : index
      return timestamp(from + ((until - from) * slot) / (total + 2))
    },
    later: (time, seconds) => {
      const start = Date.parse(time)
      return timestamp(Math.min(start + seconds * 1000, Math.max(start, until)))
    },
    identify: (kind, index) => {
      const id = databaseId(kind, ordinal, index)
      return { index, id, nodeId: nodeId(kind, id) }
    },
    amount: (salt, amount, key) =>
      typeof amount === 'number' ? amount : luck.integer(salt, amount[0], amount[1], key),
    person: (salt, ...keys) => luck.pick(salt, people.logins, ...keys),
  }
}

export const timestamp = (milliseconds: number): string =>
  `${new Date(Math.floor(milliseconds / 1000) * 1000).toISOString().slice(0, 19)}Z`

export const secondsBetween = (start: string, end: string): number => (Date.parse(end) - Date.parse(start)) / 1000
