import { UserError } from '../core.ts'
import { isFinalStep } from '../model/action.ts'
import type { Plan } from '../model/plan.ts'

type Group = 'current' | 'target'

export interface SimulationOptions {
  readonly seed?: number
  readonly clients?: number
  readonly thinkSeconds?: number
  readonly sessionSeconds?: number
  readonly minutes?: number
  /** Each answer restarts the life of the cookie. AWS documents it for its other cookies; here it is assumed. */
  readonly renewCookie?: boolean
  /** Start of each step; default: after the dwell time of the step before, the first at minute 0. */
  readonly stepStartsSeconds?: readonly number[]
  /** Spans in which a group has no targets: its share is answered with 503. */
  readonly outages?: readonly { readonly group: Group; readonly fromSeconds: number; readonly toSeconds: number }[]
}

interface SimulatedMinute {
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

/** About half a second of work. If clients would send more, fewer are played and each stands for several. */
const MOST_REQUESTS = 8_000_000
/** Fewer clients would tell little about shares. */
const FEWEST_CLIENTS = 20
/** Four weeks; the answer has a record for each minute. */
export const MOST_MINUTES = 40_320

/** Small and good enough for shares; a seed makes every run repeatable (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}

/** Plays a plan with independent clients: some follow the weights, some are held back by a cookie, some get an error. */
export function simulate(plan: Plan, options: SimulationOptions = {}): Simulation {
  const { seed = 1, clients = 2000, thinkSeconds = 5, sessionSeconds = 600, renewCookie = true, outages = [] } = options
  const starts = options.stepStartsSeconds ?? defaultStarts(plan)
  const minutes = options.minutes ?? Math.ceil((starts.at(-1)! + Math.max(plan.steps.at(-1)!.dwellSeconds, 600)) / 60)
  const end = minutes * 60
  const played = Math.min(clients, Math.floor(MOST_REQUESTS / Math.max(1, end / thinkSeconds)))
  if (minutes > MOST_MINUTES || played < Math.min(clients, FEWEST_CLIENTS)) {
    throw new UserError(
      `${Math.round(minutes / 60)} hours with a request every ${thinkSeconds} s are too much to simulate: choose fewer minutes (at most ${MOST_MINUTES}), or more thinkSeconds.`,
    )
  }
  const random = seededRandom(seed)
  const count = { requests: counters(end), target: counters(end), pinned: counters(end), errors: counters(end) }

  const ruleAt = plan.steps.map((step, index) => ({
    targetShare: step.weights.target / (step.weights.current + step.weights.target),
    isSticky: plan.stickiness.enabled && !(isFinalStep(plan, index) && plan.stickiness.atFinalStep === 'disable'),
  }))
  const cookieSeconds = plan.stickiness.durationSeconds ?? 0
  const down = { current: spansOf('current', outages), target: spansOf('target', outages) }
  const exponential = (mean: number) => -mean * Math.log(1 - random())

  for (let client = 0; client < played; client++) {
    const span = { current: 0, target: 0 }
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
      // Time only moves forward, so a span that is over is not looked at again.
      while (down[group][span[group]]![1] <= at) span[group]++
      if (down[group][span[group]]![0] <= at) count.errors[window]!++
      else if (rule.isSticky && (!follows || renewCookie)) cookie = { group, expires: at + cookieSeconds }
    }
  }
  return summarize(seed, minutes, starts.at(-1)!, count, clients / played)
}

/** Start and end of each outage, in order and without overlaps; the last entry never comes due. */
function spansOf(group: Group, outages: NonNullable<SimulationOptions['outages']>): readonly [number, number][] {
  const spans: [number, number][] = []
  const own = outages.filter((outage) => outage.group === group && outage.toSeconds > outage.fromSeconds)
  for (const { fromSeconds, toSeconds } of own.toSorted((one, other) => one.fromSeconds - other.fromSeconds)) {
    const last = spans.at(-1)
    if (last !== undefined && fromSeconds <= last[1]) last[1] = Math.max(last[1], toSeconds)
    else spans.push([fromSeconds, toSeconds])
  }
  spans.push([Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY])
  return spans
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
  /** The number of clients that each one stands for. */
  weight: number,
): Simulation {
  const perMinute = 60 / WINDOW_SECONDS
  const sum = (values: Uint32Array, minute: number) =>
    values.subarray(minute * perMinute, (minute + 1) * perMinute).reduce((left, right) => left + right, 0)
  const series = Array.from({ length: minutes }, (_, minute) => {
    const requests = sum(count.requests, minute)
    const share = (values: Uint32Array) => (requests === 0 ? 0 : sum(values, minute) / requests)
    return {
      minute,
      requests: Math.round(requests * weight),
      targetShare: share(count.target),
      pinnedShare: share(count.pinned),
      errors: Math.round(sum(count.errors, minute) * weight),
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
