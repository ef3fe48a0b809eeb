import { createHash } from 'node:crypto'
import type { BudgetStore } from './budget-store.ts'
import type { Clock } from './clock.ts'
import type { QuotaReader } from './quota-reader.ts'
import { createSlots } from './slots.ts'

interface ClassLimits {
  readonly requestsPerHour?: number
  readonly requestsPerMinute?: number
  readonly concurrency?: number
}

export interface RateLimits {
  /** Set in the connection, for all endpoint classes together. Without it only the vendor's quota counts. */
  readonly requestsPerHour?: number
  /** Number of requests in progress at a time; default: 10. */
  readonly concurrency?: number
  /** Endpoint classes with lower limits than the connection as a whole. */
  readonly classes?: Readonly<Record<string, ClassLimits>>
  readonly quota?: QuotaReader
}

/** Decides when a request may start. Clients of one connection share a budget; with a store, other processes share it too. */
export interface Budget {
  /** Resolves when one more request may start; call the result when it has ended. `onWait` is called before waits for the rate. */
  enter(
    className: string,
    signal: AbortSignal,
    onWait: (until: Date) => void,
    store?: BudgetStore | undefined,
  ): Promise<() => void>
}

export const DEFAULT_CONCURRENCY = 10
const HOUR = 3_600_000
/** As many starts are booked at a time as are due within these milliseconds. */
const BOOKED_AHEAD = 2000
const MOST_BOOKED = 20
const MINUTE = 60_000

/** `place` identifies the connection for other processes. */
export function createBudget(limits: RateLimits, clock: Clock, place = ''): Budget {
  const connection = gate({ ...limits, concurrency: limits.concurrency ?? DEFAULT_CONCURRENCY }, clock, place)
  const classes = new Map(
    Object.entries(limits.classes ?? {}).map(([name, of]) => [name, gate(of, clock, `${place} ${name}`)]),
  )
  return {
    async enter(className, signal, onWait, store) {
      // The class comes first: a request that waits for a slow class must not hold a slot that another class could use.
      const leaveClass = await classes.get(className)?.(signal, onWait, store)
      try {
        const leaveConnection = await connection(signal, onWait, store)
        return () => {
          leaveConnection()
          leaveClass?.()
        }
      } catch (error) {
        leaveClass?.()
        throw error
      }
    },
  }
}

type Gate = (signal: AbortSignal, onWait: (until: Date) => void, store: BudgetStore | undefined) => Promise<() => void>

function gate(limits: ClassLimits, clock: Clock, place: string): Gate {
  const slots = limits.concurrency ? createSlots(limits.concurrency) : undefined
  const rates: Rate[] = []
  if (limits.requestsPerHour) rates.push(createRate(limits.requestsPerHour, HOUR, place))
  if (limits.requestsPerMinute) rates.push(createRate(limits.requestsPerMinute, MINUTE, place))
  return async (signal, onWait, store) => {
    const leave = (await slots?.enter(signal)) ?? (() => undefined)
    try {
      for (const rate of rates) {
        const booked = store && (await rate.book(store, clock))
        const now = clock.now()
        const wait = booked === undefined ? rate.reserve(now) : booked - now
        if (wait <= 0) continue
        onWait(new Date(now + wait))
        try {
          await clock.sleep(wait, signal)
        } catch (error) {
          if (booked === undefined) rate.giveBack()
          throw error
        }
      }
      return leave
    } catch (error) {
      leave()
      throw error
    }
  }
}

interface Rate {
  /** Books the next start and returns the milliseconds until then. */
  reserve(now: number): number
  giveBack(): void
  /** The same across all processes: returns the moment of the next start, by our clock. */
  book(store: BudgetStore, clock: Clock): Promise<number>
}

/**
 * Spaces requests evenly, but allows a sixtieth of the limit at once after a quiet time. The burst is subtracted from the steady
 * rate, so that no window of the period's length ever holds more than `requests`.
 */
export function createRate(requests: number, period: number, place = ''): Rate {
  const burst = Math.max(1, Math.floor(requests / 60))
  const interval = period / (requests - burst + 1)
  let nextEven = Number.NEGATIVE_INFINITY
  const name = createHash('sha256')
    .update(JSON.stringify([place, requests, period]))
    .digest('hex')
  const atOnce = Math.max(1, Math.min(MOST_BOOKED, Math.floor(BOOKED_AHEAD / interval)))
  /** Starts that are booked and not used yet, by our clock. */
  let places: number[] = []
  let booking: Promise<void> | undefined
  return {
    reserve(now) {
      const start = Math.max(now, nextEven - (burst - 1) * interval)
      nextEven = Math.max(now, nextEven) + interval
      return start - now
    },
    giveBack() {
      nextEven -= interval
    },
    async book(store, clock) {
      for (;;) {
        const place = places.shift()
        if (place !== undefined) return place
        booking ??= store
          .book(name, atOnce, interval)
          .then((first) => {
            const now = clock.now()
            // However old the booked place is, it allows no more than a full burst.
            const from = Math.max(now, now + first)
            const burstBefore = (burst - 1) * interval
            places = Array.from({ length: atOnce }, (_, index) => Math.max(now, from + index * interval - burstBefore))
          })
          .finally(() => {
            booking = undefined
          })
        await booking
      }
    },
  }
}
