import type { Clock } from './clock.ts'
import { createPlaces } from './places.ts'
import type { QuotaReader } from './quota.ts'

export interface ClassLimits {
  readonly requestsPerHour?: number
  readonly requestsPerMinute?: number
  readonly concurrency?: number
}

export interface RateLimits {
  /** Fixed by whoever set up the connection, for all endpoint classes together. Without it only the vendor's quota counts. */
  readonly requestsPerHour?: number
  /** Requests under way at a time, 10 unless set. */
  readonly concurrency?: number
  /** Endpoint classes that bear less than the connection as a whole. */
  readonly classes?: Readonly<Record<string, ClassLimits>>
  readonly quota?: QuotaReader
}

/**
 * Decides when a request may start. Clients of one connection share one; another process can share it too by an
 * implementation of this interface over a store that both see.
 */
export interface Budget {
  /** Resolves when one more request may start; call the result when it has ended. `onWait` hears of waits for the rate. */
  enter(className: string, signal: AbortSignal, onWait: (until: Date) => void): Promise<() => void>
}

export const DEFAULT_CONCURRENCY = 10
const HOUR = 3_600_000
const MINUTE = 60_000

/** A budget within this process. */
export function createBudget(limits: RateLimits, clock: Clock): Budget {
  const connection = gate({ ...limits, concurrency: limits.concurrency ?? DEFAULT_CONCURRENCY }, clock)
  const classes = new Map(Object.entries(limits.classes ?? {}).map(([name, of]) => [name, gate(of, clock)]))
  return {
    async enter(className, signal, onWait) {
      // The class first: what waits for a slow class must not hold a place that another class could use.
      const leaveClass = await classes.get(className)?.(signal, onWait)
      try {
        const leaveConnection = await connection(signal, onWait)
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

type Gate = (signal: AbortSignal, onWait: (until: Date) => void) => Promise<() => void>

function gate(limits: ClassLimits, clock: Clock): Gate {
  const places = limits.concurrency ? createPlaces(limits.concurrency) : undefined
  const rates: Rate[] = []
  if (limits.requestsPerHour) rates.push(createRate(limits.requestsPerHour, HOUR))
  if (limits.requestsPerMinute) rates.push(createRate(limits.requestsPerMinute, MINUTE))
  return async (signal, onWait) => {
    const leave = (await places?.enter(signal)) ?? (() => undefined)
    try {
      for (const rate of rates) {
        const now = clock.now()
        const wait = rate.reserve(now)
        if (wait <= 0) continue
        onWait(new Date(now + wait))
        try {
          await clock.sleep(wait, signal)
        } catch (error) {
          rate.giveBack()
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
  /** Books the next start and says how many milliseconds away it is. */
  reserve(now: number): number
  giveBack(): void
}

/**
 * Spaces requests evenly, but lets a sixtieth of the allowance go at once after a quiet time. The burst is taken off
 * the steady rate, so that no window of the period's length ever holds more than `requests`.
 */
export function createRate(requests: number, period: number): Rate {
  const burst = Math.max(1, Math.floor(requests / 60))
  const interval = period / (requests - burst + 1)
  let nextEven = Number.NEGATIVE_INFINITY
  return {
    reserve(now) {
      const start = Math.max(now, nextEven - (burst - 1) * interval)
      nextEven = Math.max(now, nextEven) + interval
      return start - now
    },
    giveBack() {
      nextEven -= interval
    },
  }
}
