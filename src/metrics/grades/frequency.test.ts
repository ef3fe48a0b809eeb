import { describe, expect, it } from 'vitest'
import { metricNamed } from '../index.ts'
import { gradeOf } from './benchmarks.ts'
import { frequencyOf, lowerMedian } from './frequency.ts'

const day = (text: string) => Date.parse(`${text}T00:00:00Z`)
const range = (from: string, to: string) => ({ from: new Date(from), to: new Date(to) })
const days = (from: string, count: number) =>
  new Set(Array.from({ length: count }, (_, index) => day(from) + index * 86_400_000))

describe('deployment frequency', () => {
  it('takes the smaller of two middles', () => {
    expect([lowerMedian([]), lowerMedian([7]), lowerMedian([4, 1]), lowerMedian([3, 1, 2])]).toEqual([null, 7, 1, 2])
  })

  it('counts days by week and whole month, empty ones as 0', () => {
    // Monday 2024-01-01 to Sunday 2024-02-25: eight weeks, one whole month.
    const all = range('2024-01-01T00:00:00Z', '2024-02-25T23:59:59Z')
    expect(frequencyOf(days('2024-01-01', 56), all)).toEqual({ weekly: 7, monthly: 31, sixMonths: 56, weeks: 8 })
    expect(frequencyOf(days('2024-02-01', 7), all)).toEqual({ weekly: 0, monthly: 0, sixMonths: 7, weeks: 8 })
    expect(frequencyOf(new Set(), all)).toEqual({ weekly: 0, monthly: 0, sixMonths: null, weeks: 8 })
    expect(frequencyOf(new Set(), range('2024-01-02T00:00:00Z', '2024-01-01T00:00:00Z'))).toMatchObject({
      weekly: null,
    })
  })

  it('counts every day that the range touches, the first of whole days too, however long it is', () => {
    const january = range('2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z')
    expect(frequencyOf(new Set([day('2024-01-01')]), january)).toMatchObject({ monthly: 1 })
    const week = range('2024-01-01T00:00:00Z', '2024-01-08T00:00:00Z')
    expect(frequencyOf(days('2024-01-01', 7), week)).toMatchObject({ weekly: 7 })
    // A deployment of the last moment lies in the range.
    expect(frequencyOf(new Set([day('2024-01-08')]), range('2024-01-08T00:00:00Z', '2024-01-08T00:00:00Z'))).toEqual({
      weekly: 1,
      monthly: 1,
      sixMonths: 1,
      weeks: 1,
    })
    const decade = range('2014-01-01T00:00:00Z', '2024-01-01T00:00:00Z')
    expect(frequencyOf(days('2014-01-01', 3652), decade)).toEqual({
      weekly: 7,
      monthly: 31,
      sixMonths: 184,
      weeks: 522,
    })
    expect(frequencyOf(days('2014-01-01', 2000), decade)).toMatchObject({ weekly: 7, monthly: 28 })
  })

  it('takes a month that is touched in part for no month', () => {
    const touching = range('2024-01-10T00:00:00Z', '2024-02-09T12:00:00Z')
    expect(frequencyOf(days('2024-01-10', 3), touching)).toMatchObject({ monthly: 3 })
    expect(frequencyOf(new Set(), touching)).toMatchObject({ monthly: 0, sixMonths: null })
    // The range is too short to tell that no deployment happened in a month.
    expect(frequencyOf(new Set(), range('2024-01-10T00:00:00Z', '2024-01-20T00:00:00Z'))).toEqual({
      weekly: 0,
      monthly: null,
      sixMonths: null,
      weeks: 2,
    })
  })

  it('leaves out the days of a month that begins before the range', () => {
    const partly = range('2024-01-20T00:00:00Z', '2024-02-29T23:00:00Z')
    expect(frequencyOf(days('2024-02-05', 3), partly)).toMatchObject({ monthly: 3 })
  })

  it('says that nothing happened only of a range that is long enough', () => {
    const monthlyOf = (to: string) => frequencyOf(new Set(), range('2024-01-10T00:00:00Z', to)).monthly
    expect([monthlyOf('2024-02-05T23:00:00Z'), monthlyOf('2024-02-06T23:00:00Z')]).toEqual([null, 0])
    const sixMonthsOf = (to: string) => frequencyOf(new Set(), range('2024-01-01T00:00:00Z', to)).sixMonths
    expect([sixMonthsOf('2024-05-31T23:00:00Z'), sixMonthsOf('2024-06-30T23:00:00Z')]).toEqual([null, 0])
    // A range of one moment touches one day.
    expect(frequencyOf(new Set(), range('2024-01-08T00:00:00Z', '2024-01-08T00:00:00Z'))).toMatchObject({
      weekly: 0,
      weeks: 1,
    })
  })

  it('takes the middle one of three half years', () => {
    const some = new Set(
      ['2023-03-10', '2023-09-10', '2023-09-11', '2024-03-10', '2024-03-11', '2024-03-12'].map((text) => day(text)),
    )
    expect(frequencyOf(some, range('2023-01-01T00:00:00Z', '2024-06-30T23:00:00Z')).sixMonths).toBe(2)
  })

  it('sums six months for the report of 2021', () => {
    // Twelve months, with one day each in the first six: the sums of six months are 6 and 0, for the sixth month and the twelfth.
    const some = new Set(['01', '02', '03', '04', '05', '06'].map((month) => day(`2024-${month}-10`)))
    expect(frequencyOf(some, range('2024-01-01T00:00:00Z', '2024-12-31T23:00:00Z')).sixMonths).toBe(6)
  })
})

describe('grades', () => {
  const frequency = metricNamed('deployment-frequency')
  it('use the words of the seeds', () => {
    const graded = (weekly: number, monthly: number | null, report: '2021' | '2023', sixMonths: number | null = null) =>
      gradeOf(frequency, report, weekly, { weekly, monthly, sixMonths, weeks: 0 })?.label
    expect(graded(5, 20, '2023')).toBe('On-demand(elite)')
    expect(graded(1, 4, '2023')).toBe('Between once per day and once per week(high)')
    expect(graded(0, 1, '2023')).toBe('Between once per week and once per month(medium)')
    expect(graded(0, 0, '2023')).toBe('Fewer than once per month(low)')
    expect(graded(0, 1, '2021')).toBe('Between once per day and once per month(high)')
    expect(graded(0, 0, '2021', 1)).toBe('Between once per month and once every 6 months(medium)')
    expect(graded(0, 0, '2021', 0)).toBe('Fewer than once per six months(low)')
    expect([graded(0, 0, '2021'), graded(0, null, '2023')]).toEqual([undefined, undefined])
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
