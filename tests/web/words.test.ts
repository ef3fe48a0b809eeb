/** Texts of pages about numbers, without a browser. */
import { expect, it } from 'vitest'
import { minutesInWords } from '../../src/metrics/words/value-words.ts'
import { changeOf } from '../../web/dashboards/figure-rows.ts'
import { duration } from '../../web/parts/words.ts'
import { changeOf as changeOfKey } from '../../web/projects/key-change.ts'

it('durations are those of the server: 1 d 23 h 40 min are two days, and no day has 24 hours', () => {
  const several = Array.from({ length: 500 }, (_, index) => 1 + index * 53)
  for (const minutes of several) expect(duration(minutes), String(minutes)).toBe(minutesInWords(minutes))
  expect(duration(2860)).toBe('2 d')
})

it('deployments that are said in words are compared in deployments', () => {
  const columns = ['value', 'counted', 'words'].map((name) => ({ name, title: name, kind: 'days per week' }))
  const of = (value: number, counted: number) => ({ columns, rows: [[value, counted, `${counted} in 27 weeks`]] })
  const change = (now: [number, number], past: [number, number]) =>
    changeOf({ better: 'higher' }, of(...now), of(...past))
  expect(change([0, 10], [0, 1])).toEqual({ words: '↑ 9', isGood: true, before: '1 in 27 weeks' })
  expect(change([0, 10], [0, 10])?.words).toBe('no change')
  expect(change([0, 10], [2, 60])).toEqual({ words: '↓ 2 days / week', isGood: false, before: '2 days / week' })
  expect(change([2, 60], [2, 70])?.words).toBe('no change')

  const rate = (words: string) => ({
    columns: columns.map((each) => ({ ...each, kind: 'share' })),
    rows: [[0, 9, words]],
  })
  expect(changeOf({ better: 'lower' }, rate('0 %'), rate('0 %'))?.words).toBe('no change')
  expect(changeOf({ better: 'lower' }, rate('0 %'), rate('no incident is known'))).toBeUndefined()

  const key = (value: number, counted: number) => ({ value, counted, unit: 'days per week', better: 'higher' as const })
  expect(changeOfKey(key(0, 10), key(0, 1))).toEqual({ words: '↑ 9 deployments', isGood: true })
  expect(changeOfKey(key(0, 1), key(0, 2))).toEqual({ words: '↓ 1 deployment', isGood: false })
  expect(changeOfKey(key(0, 2), key(0, 2))).toBeUndefined()
  expect(changeOfKey(key(0, 2), key(1, 26))).toEqual({ words: '↓ 1', isGood: false })
})
