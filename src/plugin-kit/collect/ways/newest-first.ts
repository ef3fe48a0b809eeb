import { type NewestFirst, reachOf } from '../../spec/collect.ts'
import type { List, Way } from '../collection.ts'
import { isOlder, isPastLast } from '../pages/records.ts'
import { notBefore } from '../run/run-window.ts'

/** Records that are asked for again come in any order. So do those of a window, unless it covers all times. */
const isNewestFirst = ({ kind, reachesTo }: List): boolean => kind === 'list' || reachesTo !== undefined

/** The source only sorts: a run reads down to the first record that is already stored. */
export const newestFirst = ({ newestFirstBy: by, lookBack }: NewestFirst): Way => ({
  changedAt: by,
  lookBack,
  isNewestFirst,
  wanted({ collection: { run, base }, open: { list } }, at, records) {
    const { since, timeAfter } = run
    if (!since || !isNewestFirst(list)) return records
    const reach = notBefore(list.reachesTo ?? reachOf(lookBack, { ...run, since }), timeAfter)
    const isBeyond = (record: unknown) => isOlder(record, by, reach, base)
    // They come oldest first past the last numbered page.
    if (isPastLast(at)) return records.filter((record) => !isBeyond(record))
    const end = records.findIndex(isBeyond)
    return end < 0 ? records : records.slice(0, end)
  },
  // A record that was only met when looking back is not stored again.
  changed({ collection: { run, base }, open: { list } }, records) {
    const { since, isFull } = run
    if (!lookBack || !since || isFull || list.kind === 'refetch') return records
    return records.filter((record) => !isOlder(record, lookBack.changedBy, since, base))
  },
})
