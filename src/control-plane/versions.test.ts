import { expect, test } from 'vitest'
import { isStale, laterThan } from './versions.ts'

test('a version is never the same moment as the one before, even if that one lies in the future', () => {
  const ahead = new Date(Date.now() + 60_000)
  expect(Number(laterThan(ahead))).toBe(Number(ahead) + 1)
  expect(isStale(laterThan(ahead), ahead)).toBe(true)
})

test('a version of an older record is the present', () => {
  const before = Date.now()
  expect(Number(laterThan(new Date(0)))).toBeGreaterThanOrEqual(before)
})

test('only who has seen another version is too late', () => {
  const moment = new Date('2026-11-02T10:00:00Z')
  expect(isStale(moment, undefined)).toBe(false)
  expect(isStale(moment, new Date(moment))).toBe(false)
  expect(isStale(moment, new Date(Number(moment) - 1))).toBe(true)
  // A restored backup has older versions than those that people have seen.
  expect(isStale(moment, new Date(Number(moment) + 1))).toBe(true)
})
