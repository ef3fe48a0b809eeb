/** The stages of changes, whose minutes add up to their lead time. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { among, readByKeys } from '../../database/pieces.ts'
import { minutesBetween } from '../calculate/lead-times.ts'
import type { Stage } from './answer.ts'
import type { CountedItem } from './read-counted.ts'

export interface StagedChange {
  readonly item: CountedItem
  readonly minutes: Readonly<Record<Stage, number>>
}

interface Row {
  readonly id: string
  readonly coding: number | null
  readonly pickup: number | null
  readonly open: number | null
}

/**
 * The lead time of a change is the time of work before its pull request, the time that this was open, and the rest. Reviewed or
 * not, a pull request waits until somebody else looks at it: without a review, all the time that it was open.
 */
export async function readStages(
  { kysely, dialect }: Database,
  items: readonly CountedItem[],
): Promise<StagedChange[]> {
  const asked = items.flatMap(({ kind, id }) => (kind === 'pull_request' ? [id] : []))
  const rows = await readByKeys(asked, async (piece) => {
    const some = sql<Row>`select pr.id, max(m.pr_coding_time) as coding, max(m.pr_pickup_time) as pickup,
        max(${minutesBetween(dialect, 'pr.created_date', 'pr.merged_date')}) as ${sql.id('open')}
      from pull_requests pr left join project_pr_metrics m on m.id = pr.id
      where ${among(sql`pr.id`, piece)} group by pr.id`
    return (await some.execute(kysely)).rows
  })
  const known = new Map(rows.map((row) => [row.id, row]))
  return items.map((item) => ({ item, minutes: stagesOf(item.value, known.get(item.id)) }))
}

/** A commit without a pull request was only waiting to be deployed. */
function stagesOf(whole: number, row: Row | undefined): StagedChange['minutes'] {
  const coding = Math.min(whole, Number(row?.coding ?? 0))
  const open = Math.min(whole - coding, Number(row?.open ?? 0))
  const pickup = Math.min(open, Number(row?.pickup ?? open))
  return { coding, pickup, review: open - pickup, deploy: whole - coding - open }
}
