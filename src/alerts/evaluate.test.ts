import { expect, test } from 'vitest'
import { judge, momentsOf } from './evaluate.ts'

const now = new Date('2026-11-02T10:00:00Z')
const moments = momentsOf(now, 2)
test('there is a look for each day and one for now, and never more than fifteen, evenly spread', () => {
  const days = (forDays: number) =>
    momentsOf(now, forDays).map((moment) => (now.getTime() - moment.getTime()) / 86_400_000)
  expect(days(0)).toEqual([0])
  expect(days(3)).toEqual([0, 1, 2, 3])
  expect(days(28)).toEqual(Array.from({ length: 15 }, (_, index) => index * 2))
})

const above = { direction: 'above', threshold: 10, is_told: false } as const
const below = { ...above, direction: 'below' } as const

test('a value that equals its limit is not beyond it', () => {
  for (const alert of [above, below]) {
    expect(judge(alert, moments, [10, 10, 10]), alert.direction).toMatchObject({ state: 'fine', news: null })
  }
})

test('a value just beyond its limit at every look is told once', () => {
  for (const [alert, value] of [
    [above, 10.01],
    [below, 9.99],
  ] as const) {
    const broken = { state: 'broken', brokenSince: moments.at(-1) }
    expect(judge(alert, moments, [value, value, value]), alert.direction).toMatchObject({ ...broken, news: 'broken' })
    const told = { ...alert, is_told: true }
    expect(judge(told, moments, [value, value, value]), alert.direction).toMatchObject({ ...broken, news: null })
  }
})

test('a look at which the value was at its limit begins the wait again', () => {
  expect(judge(above, moments, [11, 10, 11])).toMatchObject({ state: 'pending', brokenSince: now, news: null })
  expect(judge(above, moments, [11, 11, 10])).toMatchObject({ state: 'pending', brokenSince: moments[1], news: null })
})

test('after a break was told, the alert is broken until it recovers', () => {
  expect(judge({ ...above, is_told: true }, moments, [11, 10, 11])).toMatchObject({ state: 'broken', news: null })
})

test('a value back at its limit is told to those who heard of the break', () => {
  expect(judge({ ...above, is_told: true }, moments, [10, 11, 11])).toMatchObject({ state: 'fine', news: 'recovered' })
})

test('a window without a value decides nothing', () => {
  expect(judge({ ...above, is_told: true }, moments, [null, 11, 11])).toMatchObject({ state: 'no data', news: null })
  for (const [alert, value] of [
    [above, 11],
    [below, 9],
  ] as const) {
    expect(judge(alert, moments, [value, null, value]), alert.direction).toMatchObject({ state: 'pending', news: null })
  }
})
