import { expect, it } from 'vitest'
import { rangeBefore, rangeOfText } from './range.ts'

const NOW = new Date('2026-08-31T15:04:05.006Z')
const texts = (from?: string, to?: string) => {
  const range = rangeOfText({ from, to }, NOW)
  return [range.from.toISOString(), range.to.toISOString()]
}

it.each([
  [undefined, undefined, '2026-02-28T15:04:05.006Z', '2026-08-31T15:04:05.006Z'],
  ['now-30d', 'now', '2026-08-01T15:04:05.006Z', '2026-08-31T15:04:05.006Z'],
  ['now', 'now', '2026-08-31T15:04:05.006Z', '2026-08-31T15:04:05.006Z'],
  ['now-1y', 'now', '2025-08-31T15:04:05.006Z', '2026-08-31T15:04:05.006Z'],
  ['now/d', 'now/d', '2026-08-31T00:00:00.000Z', '2026-08-31T23:59:59.999Z'],
  ['now/w', 'now/w', '2026-08-31T00:00:00.000Z', '2026-09-06T23:59:59.999Z'],
  ['now/Q', 'now', '2026-07-01T00:00:00.000Z', '2026-08-31T15:04:05.006Z'],
  ['now-1Q/fQ', 'now-1Q/fQ', '2026-04-01T00:00:00.000Z', '2026-06-30T23:59:59.999Z'],
  ['now-1M/M', 'now-1M/M', '2026-07-01T00:00:00.000Z', '2026-07-31T23:59:59.999Z'],
  ['now-1M-1d', 'now', '2026-07-30T15:04:05.006Z', '2026-08-31T15:04:05.006Z'],
  ['2026-06-01', '2026-06-30', '2026-06-01T00:00:00.000Z', '2026-06-30T23:59:59.999Z'],
  ['2016-01-01T00:00:00Z', '1767225600000', '2016-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z'],
])('%s to %s', (from, to, start, end) => {
  expect(texts(from, to)).toEqual([start, end])
})

it.each([
  ['yesterday', 'now', /from is not a valid time: yesterday\. Write/],
  ['now', 'now-1d', /runs backwards/],
  ['1969-12-31', 'now', /from is not a valid time/],
  ['now-99999y', 'now', /from is not a valid time/],
  ['now', 'now+9999y', /to is not a valid time/],
  ["'; drop table projects; --", 'now', /from is not a valid time/],
])('%s to %s is refused', (from, to, message) => {
  expect(() => texts(from, to)).toThrow(message)
})

it('has a period before it that is as long', () => {
  const before = (from: string, to: string) => {
    const range = rangeBefore(rangeOfText({ from, to }, NOW))
    return [range.from.toISOString(), range.to.toISOString()]
  }
  expect(before('now-1Q/Q', 'now-1Q/Q')).toEqual(['2026-01-01T00:00:00.000Z', '2026-03-31T23:59:59.999Z'])
  expect(before('now-30d', 'now')).toEqual(['2026-07-02T15:04:05.006Z', '2026-08-01T15:04:05.005Z'])
  // Twelve months, although the year before has a day more.
  const year = ['2024-03-01T00:00:00Z', '2025-03-01T00:00:00Z'] as const
  expect(before(...year)).toEqual(['2023-03-01T00:00:00.000Z', '2024-02-29T23:59:59.999Z'])
  expect(before('now-1y', 'now')).toEqual(['2024-08-31T15:04:05.006Z', '2025-08-31T15:04:05.005Z'])
})
