import { expect, it } from 'vitest'
import { beginningOf, decideWindow, OVERLAP } from './run-window.ts'

const day = (number: number) => new Date(Date.UTC(2026, 0, number))
const before = (time: Date) => new Date(time.getTime() - OVERLAP)
const own = { started_at: day(20), marks: null }
const decide = (timeAfter: Date | null | undefined, stored?: Date | null, fullSync = false) => {
  const latest = stored === undefined ? undefined : { time_after: stored, latest_success_start: day(20) }
  const { isFull, since, timeAfter: beginning } = decideWindow({ fullSync, timeAfter }, latest, own)
  return { isFull, since, beginning }
}

it.each([
  // Wanted start date, stored start date, expected decision.
  ['the first run, from a start date', day(5), undefined, { isFull: true, since: day(5), beginning: day(5) }],
  ['the first run, without one', null, undefined, { isFull: true, since: null, beginning: null }],
  ['the same start date', day(5), day(5), { isFull: false, since: before(day(20)), beginning: day(5) }],
  ['an earlier one', day(3), day(5), { isFull: true, since: day(3), beginning: day(3) }],
  ['none any more', null, day(5), { isFull: true, since: null, beginning: null }],
  ['a later one', day(9), day(5), { isFull: false, since: before(day(20)), beginning: day(5) }],
  ['one, where everything is stored', day(9), null, { isFull: false, since: before(day(20)), beginning: null }],
  ['nobody said', undefined, day(5), { isFull: false, since: before(day(20)), beginning: day(5) }],
  ['one that is as new as the last run', day(20), day(20), { isFull: false, since: day(20), beginning: day(20) }],
] as const)('%s', (_title, wanted, stored, expected) => {
  expect(decide(wanted, stored)).toEqual(expected)
})

it.each([
  ['applies a later start date', day(9), { isFull: true, since: day(9), beginning: day(9) }],
  [
    'begins where the last one did, if nobody says otherwise',
    undefined,
    { isFull: true, since: day(5), beginning: day(5) },
  ],
  ['reads everything without a start date', null, { isFull: true, since: null, beginning: null }],
] as const)('a full sync %s', (_title, wanted, expected) => {
  expect(decide(wanted, day(5), true)).toEqual(expected)
})

it('what is read whole in every run is read from the very beginning', () => {
  const latest = { time_after: day(5), latest_success_start: day(20) }
  const policy = { fullSync: false, timeAfter: day(5), isWhole: true }
  expect(decideWindow(policy, latest, own)).toMatchObject({ isFull: true, since: null, timeAfter: day(5) })
})

it('looks back for what earlier runs missed, but never before the start date', () => {
  const window = { isFull: false, since: day(20), last: null, timeAfter: day(5) }
  expect(beginningOf(window, undefined)).toEqual(day(20))
  expect(beginningOf(window, day(9))).toEqual(day(9))
  expect(beginningOf(window, undefined, day(12))).toEqual(day(12))
  expect(beginningOf(window, day(3))).toEqual(day(5))
  expect(beginningOf({ ...window, timeAfter: null }, null)).toBeNull()
  expect(beginningOf({ ...window, isFull: true }, day(3))).toEqual(day(20))
})
