import type { JobName } from './happenings.ts'
import { MINUTE } from './teller.ts'

export const BUILD_JOBS: readonly JobName[] = ['lint', 'test', 'package']
/** How much of the time a job takes, beside the others. */
const WEIGHTS: Readonly<Record<string, number>> = { lint: 1, test: 4, package: 2, deploy: 1 }

export interface Running {
  readonly at: number
  readonly minutesQueued: number
  /** When all goes well. */
  readonly minutes: number
  readonly failedJob: string | undefined
}
export interface Job {
  readonly name: string
  readonly from: number
  readonly to: number
  readonly isFailed: boolean
}

/** Jobs run one after the other; what would come after one that fails is never run. */
export function jobsOf(names: readonly string[], { at, minutesQueued, minutes, failedJob }: Running): Job[] {
  const weightOf = (name: string) => WEIGHTS[name] ?? 1
  const whole = names.reduce((sum, name) => sum + weightOf(name), 0)
  const ran = failedJob === undefined ? names : names.slice(0, names.indexOf(failedJob) + 1)
  let to = at + minutesQueued * MINUTE
  return ran.map((name) => {
    const from = to
    to += (minutes * MINUTE * weightOf(name)) / whole
    return { name, from, to, isFailed: name === failedJob }
  })
}
