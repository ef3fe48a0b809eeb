/**
 * Numbered lists are read from the newest record down. The record that a reading began with is its reach; it is stored with
 * the last page, so that the next reading stops there. If another record has that number by then, or the newest record has a
 * lower one, the list was created again, and is read to its end.
 */
import type { Numbered, Reach } from '../../spec/collect.ts'
import type { Way } from '../collection.ts'
import { isFirst } from '../pages/records.ts'
import { isSameReach } from '../run/reaches.ts'

export const numbered = (by: Numbered): Way => ({
  changedAt: (record) => new Date(by.of(record).made),
  isUpToDate(row, known, { timeAfter }) {
    const newest = by.newest?.(row)
    if (!newest) return false
    return isSameReach(newest, known) || (timeAfter !== null && newest.made < timeAfter.getTime())
  },
  wanted(reading, at, records) {
    const { open, collection } = reading
    if (open.list.kind !== 'list') return records
    if (isFirst(at) && records.length > 0) reading.newest = by.of(records[0])
    const count = reading.known && newOnPage(by, records, reading.known, isFirst(at))
    if (count === undefined) reading.known = undefined
    const near = records.slice(0, count)
    const { timeAfter } = collection.run
    const end = timeAfter ? near.findIndex((record) => by.of(record).made < timeAfter.getTime()) : -1
    return end < 0 ? near : near.slice(0, end)
  },
})

/** Number of new records at the top of a page; undefined: this is not the list that is known. */
function newOnPage(
  { of }: Numbered,
  records: readonly unknown[],
  known: Reach,
  isFirstPage: boolean,
): number | undefined {
  const at = records.findIndex((record) => of(record).number <= known.number)
  if (at < 0) return records.length
  const { number, made } = of(records[at])
  const isOther = number === known.number ? made !== known.made : isFirstPage && at === 0
  return isOther ? undefined : at
}
