/**
 * The source's clock. It alone decides what is asked for next time; ours only tells when theirs cannot be right, and then
 * more is asked for, never less.
 */
import type { Database } from '../database/database.ts'
import { type CollectRun, OVERLAP, overlapping, rememberTime, type Where } from './collect-state.ts'
import type { ApiClient } from './http/index.ts'
import { type TimeSource, timeIn } from './times.ts'

/** The run is begun anew, asking for more. */
export class StartOver extends Error {
  override readonly name = 'StartOver'
  readonly change: { readonly isFull?: boolean; readonly since?: Date }
  constructor(message: string, change: { readonly isFull?: boolean; readonly since?: Date } = {}) {
    super(message)
    this.change = change
  }
}

export interface SourceClock {
  /** To be called after an answer and before anything of it is stored. */
  check(): Promise<void>
  /** The newest change that records tell, for sources that do not tell their time. */
  saw(records: readonly unknown[], by: TimeSource | undefined): Promise<void>
  /** When this run began, as far as is known. */
  startedAt(): Date | null
}

/** A run that was cut off longer ago is begun anew: too much will have changed under its pages. */
const LONGEST_PAUSE = 24 * 3_600_000

export function createSourceClock(
  database: Database,
  where: Where,
  run: CollectRun,
  client: Pick<ApiClient, 'firstAnsweredAt'>,
  context: unknown,
  isSecondTry: boolean,
): SourceClock {
  let startedAt = run.sourceStartedAt
  let newest = run.newestSeen
  let checking: Promise<void> | undefined

  async function checkOnce(now: Date) {
    if (!isSecondTry) requirePlausible(run, now)
    // Where it went back since this run began, the earlier time counts.
    if (startedAt && startedAt <= now) return
    startedAt = now
    await rememberTime(database, where, { source_started_at: now })
  }

  return {
    check: async () => {
      const now = client.firstAnsweredAt
      if (now) checking ??= checkOnce(now)
      await checking
    },
    saw: async (records, by) => {
      if (client.firstAnsweredAt || !by) return
      const times = records.map((record) => timeIn(record, by, context) ?? 0)
      const last = new Date(times.reduce((one, other) => Math.max(one, other), newest?.getTime() ?? 0))
      if (last.getTime() === (newest?.getTime() ?? 0)) return
      newest = last
      await rememberTime(database, where, { newest_seen: last })
    },
    startedAt: () => startedAt ?? newest ?? run.last?.sourceStartedAt ?? null,
  }
}

function requirePlausible({ last, openedAt, sourceStartedAt, since }: CollectRun, now: Date): void {
  if (sourceStartedAt && now.getTime() - sourceStartedAt.getTime() > LONGEST_PAUSE) {
    throw new StartOver('the run that was cut off began more than a day ago; it is begun anew')
  }
  if (!last) return
  const before = last.sourceStartedAt
  if (now.getTime() < before.getTime() - OVERLAP) {
    const jump = `the clock of the source went back: ${now.toISOString()} now, ${before.toISOString()} in the last run`
    throw new StartOver(`${jump}; everything is asked for again`, { isFull: true })
  }
  if (!last.startedAt) return
  const passedHere = openedAt.getTime() - last.startedAt.getTime()
  const ahead = passedHere - (now.getTime() - before.getTime())
  if (ahead <= OVERLAP) return
  const from = overlapping(new Date(before.getTime() - ahead))
  if (!since || since <= from) return
  const minutes = Math.round(ahead / 60_000)
  const jump = `since the last run ${minutes} minutes less have passed by the clock of the source than by ours`
  throw new StartOver(`${jump}; what was changed since ${from.toISOString()} is asked for`, { since: from })
}
