/** Starts pipelines when their time has come. Any number of servers may run this on one database. */

import { readBlueprints, setTick } from '../control-plane/blueprints/blueprint-rows.ts'
import type { StartPipeline } from '../control-plane/blueprints/blueprints.ts'
import { nextTick } from '../control-plane/blueprints/cron.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Blueprint } from '../control-plane/records.ts'
import type { ServiceContext } from '../control-plane/services.ts'
import type { Queries } from '../control-plane/store.ts'
import { selectRows, updateRows } from '../control-plane/store.ts'
import type { RowOf } from '../database/table.ts'
import { messageOf, UserError } from '../errors.ts'
import { blueprints } from '../system/projects.ts'
import { blueprintTicks } from '../system/runs.ts'
import { type Repeated, repeat } from './repeat.ts'

/** How often to look for blueprints that other servers saved. */
const SCHEDULE_MS = 10_000
/** The number of starts at the same time. Each may first ask sources for their scopes. */
const MOST_STARTS = 10

interface Due {
  readonly row: RowOf<typeof blueprints>
  /** The last tick that was handled. */
  readonly last: Date
}
interface Outlook {
  readonly due: readonly Due[]
  /** The time of the next tick; null when nothing is scheduled. */
  readonly next: Date | null
}

/** Finds every blueprint with a tick between the last handled one and now; once, even if it missed several. */
async function lookAhead({ database: { kysely }, log }: ServiceContext, now: Date): Promise<Outlook> {
  const rows = await selectRows(kysely, blueprints, (query) =>
    query.where('enable', '=', true).where('is_manual', '=', false).orderBy('id'),
  )
  const ticks = new Map(
    (await selectRows(kysely, blueprintTicks)).map(({ blueprint_id, ticked_at }) => [blueprint_id, ticked_at]),
  )
  const due: Due[] = []
  const upcoming: Date[] = []
  for (const row of rows) {
    try {
      const last = ticks.get(row.id)
      const tick = last ? nextTick(row.cron_config, last) : null
      const isDue = tick !== null && tick <= now
      const next = tick === null || isDue ? nextTick(row.cron_config, now) : tick
      if (next) upcoming.push(next)
      if (!last) await setTick(kysely, row.id, now)
      else if (isDue) due.push({ row, last })
    } catch (error) {
      tellFailure(log, row, error)
    }
  }
  return { due, next: upcoming.reduce<Date | null>((first, each) => (first && first < each ? first : each), null) }
}

/** Logs the error, since one failing blueprint must not stop the others. */
function tellFailure(log: ServiceContext['log'], { id, name }: Due['row'], error: unknown): void {
  const level = error instanceof UserError ? 'warn' : 'error'
  log[level]({ blueprint: id }, `the scheduled run of ${name} did not start: ${messageOf(error)}`)
}

/** Starts a due blueprint. The tick is marked and the pipeline created in one transaction, so it never runs twice and is never lost. */
async function follow(
  { database: { kysely }, secrets, log }: ServiceContext,
  startPipeline: StartPipeline,
  { row, last }: Due,
  now: Date,
  signal?: AbortSignal,
): Promise<void> {
  const claim = async (transaction: Queries) =>
    (await updateRows(transaction, blueprintTicks, { blueprint_id: row.id, ticked_at: last }, { ticked_at: now })) === 1
  try {
    const [blueprint] = (await readBlueprints(kysely, [row], secrets)) as [Blueprint]
    await startPipeline(blueprint, blueprint, claim, signal).catch(async (error) => {
      // An unfinished run, or a plan that cannot be made, uses up this tick. Otherwise it would be tried again every second.
      if (error instanceof UserError) await kysely.transaction().execute(claim)
      throw error
    })
  } catch (error) {
    if (!signal?.aborted) tellFailure(log, row, error)
  }
}

/** Starts everything that is due now. Returns the time of the next tick. */
export async function runDueTicks(
  context: ServiceContext,
  startPipeline: StartPipeline,
  now = new Date(),
): Promise<Date | null> {
  const { due, next } = await lookAhead(context, now)
  for (const each of due) await follow(context, startPipeline, each, now)
  return next
}

/** Follows the schedule until it is stopped. A slow start, for example because a source hangs, does not delay the others. */
export function followSchedule({ context, startPipeline }: ControlPlane, lookMs: number): Repeated {
  const starting = new Map<number, Promise<void>>()
  const stop = new AbortController()
  let scheduleAt = 0
  const look = async () => {
    if (Date.now() < scheduleAt) return
    scheduleAt = Date.now() + SCHEDULE_MS
    const now = new Date()
    const { due, next } = await lookAhead(context, now)
    if (next && next.getTime() < scheduleAt) scheduleAt = next.getTime()
    for (const each of due.filter(({ row }) => !starting.has(row.id))) {
      // Blueprints that cannot start now are still due in the next round.
      if (starting.size >= MOST_STARTS || stop.signal.aborted) break
      const started = follow(context, startPipeline, each, now, stop.signal).finally(() => {
        starting.delete(each.row.id)
        if (due.length > MOST_STARTS) wake()
      })
      starting.set(each.row.id, started)
    }
  }
  const looking = repeat(lookMs, look, (error) =>
    context.log.error(`the schedule continues after an error: ${messageOf(context.database.explain(error) ?? error)}`),
  )
  const wake = () => {
    scheduleAt = 0
    looking.wake()
  }
  return {
    wake,
    async stop() {
      stop.abort()
      await looking.stop()
      await Promise.all(starting.values())
    },
  }
}
