import { describe, expect, it } from 'vitest'
import { type LikelyRange, likelyDifference, likelyRange, mayBeChance, type Sample } from './likely-range.ts'
import { seededRandom } from './seeded-random.ts'

const WORLDS = 1000
const random = seededRandom(20_261_119)
const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
/** Lead times in whole minutes with a median of two days, in shapes as real ones have: few take many times as long as most. */
const MEDIAN = 2880
const SHAPES: readonly (() => number)[] = [
  ...[0.8, 1, 1.2].map((width) => () => Math.ceil(MEDIAN * Math.exp(width * normal()))),
  ...[1.2, 2].map((tail) => () => Math.ceil(MEDIAN * ((1 - random()) * 2) ** (-1 / tail))),
]

const times = (values: readonly number[]): Sample => ({ summary: 'median', isShare: false, values })
const shares = (values: readonly number[]): Sample => ({ summary: 'mean', isShare: true, values })
const list = (size: number, draw: () => number) => Array.from({ length: size }, draw)
/** The share of the worlds, each of another shape and size, in which something holds. */
const shareOf = (holds: (draw: () => number, world: number) => boolean, worlds = WORLDS) =>
  list(worlds, () => 0).filter((_, world) => holds(SHAPES[world % SHAPES.length] as () => number, world)).length /
  worlds
const holds = (range: LikelyRange | null, truth: number) => range !== null && range.low <= truth && truth <= range.high
const claims = (now: Sample, before: Sample) => !mayBeChance(likelyDifference(now, before))

describe('lead times of 1,000 worlds', () => {
  it('are not said to change where nothing did', () => {
    const wrong = shareOf((draw, world) => {
      const size = [30, 100, 500][world % 3] as number
      return claims(times(list(size, draw)), times(list(size, draw)))
    })
    expect(wrong).toBeLessThanOrEqual(0.12)
  })

  it('are said to change where they fell or rose by 30 %', () => {
    for (const factor of [0.7, 1.3]) {
      const found = shareOf((draw) => {
        const now = times(list(500, () => draw() * factor))
        const difference = likelyDifference(now, times(list(500, draw)))
        return !mayBeChance(difference) && Math.sign(difference?.low ?? 0) === Math.sign(factor - 1)
      })
      expect(found, String(factor)).toBeGreaterThanOrEqual(0.9)
    }
  })

  it('lie with their true median in nine of ten ranges', () => {
    for (const size of [12, 30, 100, 500]) {
      const right = shareOf((draw) => holds(likelyRange(times(list(size, draw))), MEDIAN))
      expect(right, String(size)).toBeGreaterThanOrEqual(0.86)
      expect(right, String(size)).toBeLessThanOrEqual(0.94)
    }
  })

  it('differ by what was planted in nine of ten ranges', () => {
    const right = shareOf((draw) => {
      const now = times(list(300, () => draw() * 0.7))
      return holds(likelyDifference(now, times(list(300, draw))), MEDIAN * -0.3)
    })
    expect(right).toBeGreaterThanOrEqual(0.86)
    expect(right).toBeLessThanOrEqual(0.94)
  })
})

describe('shares, means and frequencies', () => {
  it('of failures are in their range, and change only where something did', () => {
    const failures = (size: number, truth: number) => shares(list(size, () => Number(random() < truth)))
    const right = shareOf(() => {
      const truth = 0.03 + random() * 0.3
      return holds(likelyRange(failures(50 + Math.floor(random() * 400), truth)), truth)
    }, 4000)
    expect(right).toBeGreaterThanOrEqual(0.86)
    expect(right).toBeLessThanOrEqual(0.94)
    expect(shareOf(() => claims(failures(130, 0.13), failures(115, 0.13)))).toBeLessThanOrEqual(0.13)
    expect(shareOf(() => claims(failures(500, 0.26), failures(500, 0.13)))).toBeGreaterThanOrEqual(0.95)
  })

  it('of incidents to deployments are compared as odds', () => {
    const ratio = (ones: number, zeros: number): Sample => ({
      summary: 'ratio',
      isShare: true,
      values: [...list(ones, () => 1), ...list(zeros, () => 0)],
    })
    const range = likelyRange(ratio(4, 10))
    expect(range?.low).toBeLessThan(0.4)
    expect(range?.high).toBeGreaterThan(0.4)
    expect(likelyRange(ratio(4, 0))).toBeNull()
    expect(claims(ratio(40, 100), ratio(40, 100))).toBe(false)
    expect(claims(ratio(80, 100), ratio(20, 100))).toBe(true)
  })

  it('that are means hold the true one, even if few items are long', () => {
    const right = shareOf(() => {
      const range = likelyRange({ summary: 'mean', isShare: false, values: list(400, () => -Math.log(1 - random())) })
      return holds(range, 1)
    }, 400)
    expect(right).toBeGreaterThanOrEqual(0.86)
    expect(right).toBeLessThanOrEqual(0.94)
  })

  it('of deployments go by weeks, and are whole days', () => {
    const weeks = (most: number): Sample => ({
      summary: 'days',
      isShare: false,
      values: list(26, () => Math.floor(random() * (most + 1))),
    })
    expect(shareOf(() => claims(weeks(5), weeks(5)))).toBeLessThanOrEqual(0.12)
    const range = likelyRange(weeks(5)) as LikelyRange
    expect([range.low, range.high].every(Number.isInteger)).toBe(true)
    const always = (days: number): Sample => ({ summary: 'days', isShare: false, values: list(26, () => days) })
    expect(likelyDifference(always(3), always(4))).toEqual({ low: -1, high: -1 })
  })
})

describe('a range', () => {
  it('is missing where there is too little to say, and then a change may be chance', () => {
    expect(likelyRange(times([]))).toBeNull()
    expect(likelyRange(times([1, 2, 3, 4]))).toBeNull()
    expect(likelyRange(shares([]))).toBeNull()
    expect(mayBeChance(likelyDifference(times([1, 2]), times(list(50, () => 1000))))).toBe(true)
  })

  it('of one deployment is nearly everything', () => {
    const range = likelyRange(shares([0])) as LikelyRange
    expect(range.low).toBe(0)
    expect(range.high).toBeGreaterThan(0.7)
    expect(likelyRange(shares([1]))?.high).toBe(1)
  })

  it('holds the value, and depends on the items alone, not on their order', () => {
    for (const size of [5, 6, 201, 1000]) {
      const values = list(size, SHAPES[0] as () => number)
      for (const summary of ['median', 'mean', 'count'] as const) {
        const sample: Sample = { summary, isShare: false, values }
        expect(likelyRange({ ...sample, values: values.toReversed() })).toEqual(likelyRange(sample))
      }
      const sorted = values.toSorted((one, other) => one - other)
      expect(holds(likelyRange(times(values)), sorted[Math.floor((size - 1) / 2)] as number)).toBe(true)
    }
  })

  it('takes at most 50 ms for 10,000 items', () => {
    const values = list(10_000, SHAPES[1] as () => number)
    for (const summary of ['median', 'mean', 'days', 'count'] as const) {
      const sample: Sample = { summary, isShare: false, values }
      const fastest = Math.min(
        ...list(5, () => {
          const started = performance.now()
          likelyRange(sample)
          return performance.now() - started
        }),
      )
      expect(fastest, summary).toBeLessThanOrEqual(50)
    }
  })
})
