import { Cron } from 'croner'
import { byName } from '../../basics/by-name.ts'
import { UserError } from '../../errors.ts'

/** `@every 1h30m`, which cron expressions cannot say. */
const EVERY = /^@every\s+((?:\d+(?:\.\d+)?(?:h|m|s))+)$/
const UNIT: Record<string, number> = byName({ h: 3_600_000, m: 60_000, s: 1000 })

function intervalOf(schedule: string): number | undefined {
  const parts = EVERY.exec(schedule)?.[1]?.matchAll(/(\d+(?:\.\d+)?)(h|m|s)/gy)
  return parts && [...parts].reduce((sum, [, amount, unit]) => sum + Number(amount) * (UNIT[unit as string] ?? 0), 0)
}

/** The first tick after a moment, in UTC; null when there is none. */
export function nextTick(schedule: string, after: Date): Date | null {
  const interval = intervalOf(schedule.trim())
  if (interval) return new Date(after.getTime() + interval)
  return new Cron(schedule.trim(), { mode: '5-part', timezone: 'UTC', paused: true }).nextRun(after)
}

export function checkSchedule(schedule: string): void {
  const hint = 'Write five fields such as 0 0 * * * (UTC), a word such as @daily, or set isManual.'
  let next: Date | null
  try {
    next = nextTick(schedule, new Date())
  } catch (error) {
    throw new UserError(`cronConfig ${JSON.stringify(schedule)} is not a schedule. ${hint}`, { cause: error })
  }
  if (!next) throw new UserError(`cronConfig ${JSON.stringify(schedule)} never comes due. ${hint}`)
}
