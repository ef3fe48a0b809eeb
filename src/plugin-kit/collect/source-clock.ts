/**
 * The source's clock. It alone decides what the next run asks for. Our clock only shows when the source's clock cannot be right,
 * and then more is asked for, never less.
 */

import { counted } from '../../basics/counted.ts'
import type { Database } from '../../database/database.ts'
import type { ApiClient } from '../http/index.ts'
import { type TimeSource, timeIn } from '../spec/times.ts'
import { type CollectorKey, type CollectRun, rememberTime } from './run.ts'
import { OVERLAP, overlapping } from './run-window.ts'

/** Thrown to start the run again and ask for more. */
export class StartOver extends Error {
  override readonly name = 'StartOver'
  readonly change: { readonly isFull?: boolean; readonly since?: Date }
  constructor(message: string, change: { readonly isFull?: boolean; readonly since?: Date } = {}) {
    super(message)
    this.change = change
  }
}

export interface SourceClock {
  /** Must be called after an answer and before anything of it is stored. */
  check(): Promise<void>
  /** Notes the newest change in records, for sources that do not tell their time. */
  saw(records: readonly unknown[], by: TimeSource | undefined): Promise<void>
  /** The time when this run began by the source's clock, as far as it is known. */
  startedAt(): Date | null
}

/** An interrupted run that began longer ago is started again: too much will have changed in its lists. */
const LONGEST_PAUSE = 24 * 3_600_000

export function createSourceClock(
  database: Database,
  where: CollectorKey,
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
    // If the source's clock went back since this run began, the earlier time counts.
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
    throw new StartOver('the interrupted run began more than a day ago; collecting starts from the beginning')
  }
  if (!last) return
  const before = last.sourceStartedAt
  if (now.getTime() < before.getTime() - OVERLAP) {
    const jump = `the clock of the source went back: ${now.toISOString()} now, ${before.toISOString()} in the last run`
    throw new StartOver(`${jump}; everything is collected again`, { isFull: true })
  }
  if (!last.startedAt) return
  const passedHere = openedAt.getTime() - last.startedAt.getTime()
  const ahead = passedHere - (now.getTime() - before.getTime())
  if (ahead <= OVERLAP) return
  const from = overlapping(new Date(before.getTime() - ahead))
  if (!since || since <= from) return
  const minutes = Math.round(ahead / 60_000)
  const jump = `since the last run, the clock of the source moved ${counted(minutes, 'minute')} less than ours`
  throw new StartOver(`${jump}; changes since ${from.toISOString()} are collected again`, { since: from })
}
