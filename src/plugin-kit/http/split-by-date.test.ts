import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type DateWindow, splitByDate } from './split-by-date.ts'

const START = Date.parse('2026-01-01T00:00:00Z')
const at = (second: number) => new Date(START + second * 1000)

function source(seconds: readonly number[]) {
  const inside = ({ from, to }: DateWindow) => seconds.filter((one) => at(one) >= from && at(one) <= to)
  return { inside, probe: async (window: DateWindow) => inside(window).length }
}

test('every result lies in exactly one window, none of which is empty or over the cap', async () => {
  const days = fc.array(fc.integer({ min: 0, max: 5000 }), { maxLength: 200 })
  await fc.assert(
    fc.asyncProperty(days, fc.boolean(), async (seconds, newestFirst) => {
      const { inside, probe } = source([...new Set(seconds)])
      const windows = []
      for await (const window of splitByDate({ from: at(0), to: at(5000), cap: 7, probe, newestFirst }))
        windows.push(window)
      const found = windows.flatMap(inside)
      expect(found.sort((a, b) => a - b)).toEqual([...new Set(seconds)].sort((a, b) => a - b))
      for (const window of windows) {
        expect(window.total).toBe(inside(window).length)
        expect(window.total).toBeGreaterThan(0)
        expect(window.total).toBeLessThanOrEqual(7)
      }
      const starts = windows.map(({ from }) => from.getTime())
      expect(starts).toEqual([...starts].sort((a, b) => (newestFirst ? b - a : a - b)))
    }),
    { numRuns: 50 },
  )
})

test('a set within the cap is one window, of whole seconds', async () => {
  const windows = []
  const from = new Date(START + 400)
  for await (const window of splitByDate({ from, to: at(9), cap: 1000, probe: async () => 5 })) windows.push(window)
  expect(windows).toEqual([{ from: at(0), to: at(9), total: 5, isOver: false }])
})

test('more than the cap within one second is said, not lost', async () => {
  const { probe } = source([3, 3, 3, 8])
  const windows = []
  for await (const window of splitByDate({ from: at(0), to: at(10), cap: 2, probe })) windows.push(window)
  expect(windows.filter(({ isOver }) => isOver)).toEqual([{ from: at(3), to: at(3), total: 3, isOver: true }])
  expect(windows.reduce((sum, { total }) => sum + total, 0)).toBe(4)
})

test('as many as the cap are all there', async () => {
  const { probe } = source([3, 3, 8])
  const windows = []
  for await (const window of splitByDate({ from: at(0), to: at(10), cap: 3, probe })) windows.push(window)
  expect(windows).toEqual([{ from: at(0), to: at(10), total: 3, isOver: false }])
  const ofSecond = []
  for await (const window of splitByDate({ from: at(3), to: at(3), cap: 2, probe })) ofSecond.push(window)
  expect(ofSecond).toEqual([{ from: at(3), to: at(3), total: 2, isOver: false }])
})

test('no window is longer than the longest', async () => {
  const { probe } = source([0, 4, 5, 9, 10])
  const windows = []
  for await (const window of splitByDate({ from: at(0), to: at(10), cap: 9, probe, longest: 5000 }))
    windows.push(window)
  expect(windows.map(({ from, to, total }) => [from, to, total])).toEqual([
    [at(0), at(4), 2],
    [at(5), at(9), 2],
    [at(10), at(10), 1],
  ])
})

test('a range that ends before it starts has no windows', async () => {
  for await (const _ of splitByDate({ from: at(2), to: at(1), cap: 1, probe: async () => 1 })) expect.fail('a window')
})
