/** Starts pipelines when their time has come. Any number of servers may run this on one database. */
import type { Kysely } from 'kysely'
import { messageOf, UserError } from '../errors.ts'
import { blueprints } from '../system/projects.ts'
import { blueprintTicks } from '../system/runs.ts'
import { readBlueprints } from './blueprint-rows.ts'
import type { StartPipeline } from './blueprints.ts'
import { nextTick } from './cron.ts'
import type { Blueprint } from './records.ts'
import type { ServiceContext } from './services.ts'
import { insertRow, type Queries, selectRows, updateRows } from './store.ts'

/** From now on only ticks after this moment count. */
export async function setTick(queries: Queries, blueprint_id: number, ticked_at: Date): Promise<void> {
  const changed = await updateRows(queries, blueprintTicks, { blueprint_id }, { ticked_at })
  if (changed === 0) await insertRow(queries, blueprintTicks, { blueprint_id, ticked_at })
}

/**
 * Starts every blueprint with a tick between the last one followed and now, once, however many there were. Gives the
 * moment of the next tick, or null when nothing is scheduled.
 */
export async function runDueTicks(
  context: ServiceContext,
  startPipeline: StartPipeline,
  now = new Date(),
): Promise<Date | null> {
  const { database, secrets, log } = context
  const { kysely } = database
  const rows = await selectRows(kysely, blueprints, (query) =>
    query.where('enable', '=', true).where('is_manual', '=', false).orderBy('id'),
  )
  const ticks = new Map(
    (await selectRows(kysely, blueprintTicks)).map(({ blueprint_id, ticked_at }) => [blueprint_id, ticked_at]),
  )
  const upcoming: Date[] = []
  for (const row of rows) {
    try {
      const last = ticks.get(row.id)
      const due = last ? nextTick(row.cron_config, last) : null
      const isDue = due !== null && due <= now
      const next = due === null || isDue ? nextTick(row.cron_config, now) : due
      if (next) upcoming.push(next)
      if (!last) await setTick(kysely, row.id, now)
      else if (isDue) {
        const [blueprint] = await readBlueprints(kysely, [row], secrets)
        await follow(blueprint as Blueprint, last)
      }
    } catch (error) {
      // One blueprint in trouble must not stop the others.
      const level = error instanceof UserError ? 'warn' : 'error'
      log[level]({ blueprint: row.id }, `the scheduled run of ${row.name} did not start: ${messageOf(error)}`)
    }
  }
  return upcoming.reduce<Date | null>((first, each) => (first === null || each < first ? each : first), null)

  /** The tick is marked and the pipeline created in one transaction: never twice, and never lost in between. */
  async function follow(blueprint: Blueprint, last: Date): Promise<void> {
    const unfollowed = { blueprint_id: blueprint.id, ticked_at: last }
    const claim = async (transaction: Kysely<any>) =>
      (await updateRows(transaction, blueprintTicks, unfollowed, { ticked_at: now })) === 1
    try {
      await startPipeline(blueprint, blueprint, claim)
    } catch (error) {
      // A run that is still going, or a plan that cannot be made, uses this tick up; else it would be tried every second.
      if (error instanceof UserError) await kysely.transaction().execute(claim)
      throw error
    }
  }
}
