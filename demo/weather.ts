/** How things went: a usual year, a bad quarter (a migration of the platform that went wrong), and the recovery. */
export interface Weather {
  readonly pace: number
  readonly delay: number
  readonly failure: number
  readonly recovery: number
}
const USUAL: Weather = { pace: 1, delay: 1, failure: 1, recovery: 1 }
const BAD: Weather = { pace: 0.5, delay: 2.6, failure: 2.8, recovery: 2.4 }
const BETTER: Weather = { pace: 1.35, delay: 0.55, failure: 0.6, recovery: 0.5 }

/** Parts of the time that the story takes. The bad quarter and the recovery lie in the half year that dashboards show first. */
const BAD_FROM = 53 / 78
export const BAD_UNTIL = 66 / 78
const BETTER_FROM = 70 / 78

/** Things get worse at once, and better step by step, until teams are better off than before. */
export function weather(part: number): Weather {
  if (part < BAD_FROM) return USUAL
  if (part < BAD_UNTIL) return BAD
  if (part >= BETTER_FROM) return BETTER
  const way = (part - BAD_UNTIL) / (BETTER_FROM - BAD_UNTIL)
  const between = (name: keyof Weather) => BAD[name] + (BETTER[name] - BAD[name]) * way
  return { pace: between('pace'), delay: between('delay'), failure: between('failure'), recovery: between('recovery') }
}
