import { isFinalStep } from './action.ts'
import type { Plan } from './plan.ts'

export type Group = 'current' | 'target'

export interface SimulationOptions {
  readonly seed?: number
  readonly clients?: number
  readonly thinkSeconds?: number
  readonly sessionSeconds?: number
  readonly minutes?: number
  /** Whether each answer restarts the life of the cookie. AWS documents it for its other cookies; assumed here. */
  readonly renewCookie?: boolean
  /** When each step starts; default: after the dwell of the one before, the first at minute 0. */
  readonly stepStartsSeconds?: readonly number[]
  /** Spans in which a group has no targets: its share is answered with 503. */
  readonly outages?: readonly { readonly group: Group; readonly fromSeconds: number; readonly toSeconds: number }[]
}

export interface SimulatedMinute {
  readonly minute: number
  readonly requests: number
  readonly targetShare: number
  /** Share of requests that followed a cookie instead of the weights. */
  readonly pinnedShare: number
  readonly errors: number
}

export interface Simulation {
  readonly seed: number
  readonly minutes: readonly SimulatedMinute[]
  readonly requests: number
  readonly errors: number
  /** From the start of the last step until 99 % of a window's requests reach the target; null if that never happens. */
  readonly timeTo99Seconds: number | null
}

const WINDOW_SECONDS = 10

/** Small and good enough for shares; a seed makes every run repeatable (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Plays a plan with independent clients: who follows the weights, who is held back by a cookie, who gets an error. */
export function simulate(plan: Plan, options: SimulationOptions = {}): Simulation {
  const { seed = 1, clients = 2000, thinkSeconds = 5, sessionSeconds = 600, renewCookie = true, outages = [] } = options
  const starts = options.stepStartsSeconds ?? defaultStarts(plan)
  const minutes = options.minutes ?? Math.ceil((starts.at(-1)! + Math.max(plan.steps.at(-1)!.dwellSeconds, 600)) / 60)
  const end = minutes * 60
  const random = seededRandom(seed)
  const count = { requests: counters(end), target: counters(end), pinned: counters(end), errors: counters(end) }

  const ruleAt = plan.steps.map((step, index) => ({
    targetShare: step.weights.target / (step.weights.current + step.weights.target),
    isSticky: plan.stickiness.enabled && !(isFinalStep(plan, index) && plan.stickiness.atFinalStep === 'disable'),
  }))
  const cookieSeconds = plan.stickiness.durationSeconds ?? 0
  const isDown = (group: Group, at: number) =>
    outages.some((outage) => outage.group === group && at >= outage.fromSeconds && at < outage.toSeconds)
  const exponential = (mean: number) => -mean * Math.log(1 - random())

  for (let client = 0; client < clients; client++) {
    let cookie: { group: Group; expires: number } | undefined
    let at = random() * thinkSeconds
    let sessionEnd = exponential(sessionSeconds)
    for (let step = 0; at < end; at += exponential(thinkSeconds)) {
      while (step + 1 < starts.length && at >= starts[step + 1]!) step++
      if (at >= sessionEnd) {
        cookie = undefined
        sessionEnd = at + exponential(sessionSeconds)
      }
      const rule = ruleAt[step]!
      const follows = rule.isSticky && cookie !== undefined && at < cookie.expires
      const group: Group = follows ? cookie!.group : random() < rule.targetShare ? 'target' : 'current'
      const window = Math.floor(at / WINDOW_SECONDS)
      count.requests[window]!++
      if (group === 'target') count.target[window]!++
      if (follows) count.pinned[window]!++
      if (isDown(group, at)) count.errors[window]!++
      else if (rule.isSticky && (!follows || renewCookie)) cookie = { group, expires: at + cookieSeconds }
    }
  }
  return summarize(seed, minutes, starts.at(-1)!, count)
}

const defaultStarts = (plan: Plan): readonly number[] => {
  let at = 0
  return plan.steps.map((_, index) => (at += plan.steps[index - 1]?.dwellSeconds ?? 0))
}

const counters = (seconds: number) => new Uint32Array(Math.ceil(seconds / WINDOW_SECONDS))

function summarize(
  seed: number,
  minutes: number,
  lastStart: number,
  count: Record<'requests' | 'target' | 'pinned' | 'errors', Uint32Array>,
): Simulation {
  const perMinute = 60 / WINDOW_SECONDS
  const sum = (values: Uint32Array, minute: number) =>
    values.subarray(minute * perMinute, (minute + 1) * perMinute).reduce((left, right) => left + right, 0)
  const series = Array.from({ length: minutes }, (_, minute) => {
    const requests = sum(count.requests, minute)
    const share = (values: Uint32Array) => (requests === 0 ? 0 : sum(values, minute) / requests)
    return {
      minute,
      requests,
      targetShare: share(count.target),
      pinnedShare: share(count.pinned),
      errors: sum(count.errors, minute),
    }
  })
  const first = Math.ceil(lastStart / WINDOW_SECONDS)
  const arrived = count.requests.findIndex(
    (requests, window) => window >= first && requests > 0 && count.target[window]! / requests >= 0.99,
  )
  return {
    seed,
    minutes: series,
    requests: series.reduce((total, { requests }) => total + requests, 0),
    errors: series.reduce((total, { errors }) => total + errors, 0),
    timeTo99Seconds: arrived === -1 ? null : Math.max(0, arrived * WINDOW_SECONDS - lastStart),
  }
}
