import { describe, expect, it } from 'vitest'
import { gradeOf } from './benchmarks.ts'
import { frequencyOf, listedRange, lowerMedian } from './frequency.ts'
import { metricNamed } from './index.ts'

const day = (text: string) => Date.parse(`${text}T00:00:00Z`)
const range = (from: string, to: string) => ({ from: new Date(from), to: new Date(to) })
const days = (from: string, count: number) =>
  new Set(Array.from({ length: count }, (_, index) => day(from) + index * 86_400_000))

describe('deployment frequency', () => {
  it('takes the smaller of two middles', () => {
    expect([lowerMedian([]), lowerMedian([7]), lowerMedian([4, 1]), lowerMedian([3, 1, 2])]).toEqual([null, 7, 1, 2])
  })

  it('counts days by week and month, empty ones as 0', () => {
    // Monday 2024-01-01 to Sunday 2024-02-25: eight weeks, two months.
    const all = range('2024-01-01T00:00:00Z', '2024-02-25T23:59:59Z')
    expect(frequencyOf(days('2024-01-01', 56), all)).toEqual({ weekly: 7, monthly: 25, sixMonths: null })
    expect(frequencyOf(days('2024-01-01', 7), all)).toEqual({ weekly: 0, monthly: 0, sixMonths: null })
    expect(frequencyOf(new Set(), all)).toMatchObject({ weekly: 0, monthly: 0 })
    expect(frequencyOf(new Set(), range('2024-01-02T00:00:00Z', '2024-01-01T00:00:00Z'))).toMatchObject({
      weekly: null,
    })
  })

  it('looks at no more than 400 days, and at whole days', () => {
    const listed = listedRange(range('2020-01-01T00:00:00Z', '2024-06-30T12:00:00Z'))
    expect(listed.to.toISOString()).toBe('2024-06-30T23:59:59.999Z')
    expect((listed.to.getTime() + 1 - listed.from.getTime()) / 86_400_000).toBe(400)
  })

  it('sums six months for the report of 2021', () => {
    // Twelve months with a day each in the first six: sums 6 and 0 for the newest and the sixth before it.
    const some = new Set(['01', '02', '03', '04', '05', '06'].map((month) => day(`2024-${month}-10`)))
    expect(frequencyOf(some, range('2024-01-01T00:00:00Z', '2024-12-31T23:00:00Z')).sixMonths).toBe(6)
  })
})

describe('grades', () => {
  const frequency = metricNamed('deployment-frequency')
  it('use the words of the seeds', () => {
    const graded = (weekly: number, monthly: number, report: '2021' | '2023') =>
      gradeOf(frequency, report, weekly, { weekly, monthly, sixMonths: null })?.label
    expect(graded(5, 20, '2023')).toBe('On-demand(elite)')
    expect(graded(1, 4, '2023')).toBe('Between once per day and once per week(high)')
    expect(graded(0, 1, '2023')).toBe('Between once per week and once per month(medium)')
    expect(graded(0, 0, '2023')).toBe('Fewer than once per month(low)')
    expect(graded(0, 1, '2021')).toBe('Between once per day and once per month(high)')
    expect(graded(0, 0, '2021')).toBe('Fewer than once per six months(low)')
  })

  it.each([
    ['change-lead-time', '2023', [1439, 1440, 10_080, 43_200], ['elite', 'high', 'medium', 'low']],
    ['change-lead-time', '2021', [59, 60, 10_080, 259_200], ['elite', 'high', 'medium', 'low']],
    ['change-failure-rate', '2023', [0.05, 0.1, 0.15, 0.16], ['elite', 'high', 'medium', 'low']],
    ['change-failure-rate', '2021', [0.15, 0.2, 0.3, 0.31], ['elite', 'high', 'medium', 'low']],
    ['failed-deployment-recovery-time', '2023', [59, 60, 1440, 10_080], ['elite', 'high', 'medium', 'low']],
    ['time-to-restore-service', '2021', [59, 60, 1440, 10_080], ['elite', 'high', 'medium', 'low']],
  ] as const)('%s by the report of %s', (name, report, values, bands) => {
    expect(values.map((value) => gradeOf(metricNamed(name), report, value)?.band)).toEqual(bands)
    expect(gradeOf(metricNamed(name), report, null)).toBeNull()
  })
})
