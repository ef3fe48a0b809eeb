/** Finds incidents of a service that count with the time until their last update, because nobody has resolved them. */
import { sql } from 'kysely'
import { counted } from '../../basics/counted.ts'
import type { Database } from '../../database/database.ts'
import { serviceRecoveryTime } from '../definitions/service-recovery-time.ts'
import type { MetricFilter } from '../metric.ts'
import { canRead } from '../parts.ts'
import { itemsOf } from '../read/stacked.ts'

/** Counts the unresolved incidents behind the recovery time by month (`yy/mm`). Months without one are left out. */
export async function unresolvedByMonth(
  database: Database,
  filter: MetricFilter,
): Promise<ReadonlyMap<string, number>> {
  if (!(await canRead(database, serviceRecoveryTime, filter))) return new Map()
  const { dialect, kysely } = database
  const { rows } = await sql<{ month: string; amount: number }>`select month, count(*) as amount
    from (select ${sql.raw(dialect.monthLabel('item.at'))} as month
      from (${itemsOf(database, serviceRecoveryTime, filter)}) item inner join incidents i on i.id = item.id
      where item.reason is null and i.resolution_date is null) each_one group by month`.execute(kysely)
  return new Map(rows.map(({ month, amount }) => [month, Number(amount)]))
}

/** The sentence that is shown beside the recovery time; empty if all incidents are resolved. */
export function unresolvedSentence(unresolved: number, incidents: number): string {
  if (unresolved === 0) return ''
  const rest = unresolved === 1 ? 'is not resolved: it counts' : 'are not resolved: they count'
  const last = unresolved === 1 ? 'its last update' : 'their last updates'
  return `${unresolved} of ${counted(incidents, 'incident')} ${rest} with the time until ${last}.`
}
