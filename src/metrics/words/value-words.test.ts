import { expect, it } from 'vitest'
import { changeFailureRate } from '../definitions/change-failure-rate.ts'
import { changeLeadTime } from '../definitions/change-lead-time.ts'
import { deploymentFrequency } from '../definitions/deployment-frequency.ts'
import { changeOf } from './change-words.ts'
import { isSaidInCounts, minutesInWords, valueInWords } from './value-words.ts'

it('minutes are told in their two largest parts', () => {
  const told = [0, 0.5, 1, 59.6, 60, 250, 1439.7, 1440, 4560, 4600, 14_400]
  expect(told.map(minutesInWords)).toEqual([
    '0 s',
    '30 s',
    '1 min',
    '1 h',
    '1 h',
    '4 h 10 min',
    '1 d',
    '1 d',
    '3 d 4 h',
    '3 d 5 h',
    '10 d',
  ])
  expect(minutesInWords(-90)).toBe('−1 h 30 min')
})

it('every unit has its words', () => {
  expect(valueInWords('share', 0.1254)).toBe('12.5 %')
  expect(valueInWords('days per week', 2)).toBe('2 days per week')
  expect(valueInWords('days per week', 1)).toBe('1 day per week')
  expect(valueInWords('lines', 1.001)).toBe('1 line')
  expect(valueInWords('comments', 1)).toBe('1 comment')
  expect(valueInWords('seconds', 12.34)).toBe('12.3 s')
  expect(valueInWords('seconds', 60)).toBe('1 min')
  expect(valueInWords('seconds', 7500)).toBe('2 h 5 min')
  expect(valueInWords('count', 7)).toBe('7')
  expect(valueInWords('lines', 120)).toBe('120 lines')
  expect(valueInWords('minutes', null)).toBe('no value')
})

it('only a median week without a deployment is said in counts', () => {
  expect(isSaidInCounts('days per week', 0)).toBe(true)
  for (const value of [1, null]) expect(isSaidInCounts('days per week', value)).toBe(false)
  expect(isSaidInCounts('count', 0)).toBe(false)
})

it('a change says by how much, and whether it is for the better', () => {
  const of = (value: number | null, counted = 1) => ({ value, counted })
  expect(changeOf(changeLeadTime, of(300), of(60))).toMatchObject({ direction: 'better', words: '4 h less, better' })
  expect(changeOf(changeFailureRate, of(0.1), of(0.25)).words).toBe('15 points more, worse')
  expect(changeOf(changeFailureRate, of(0.1), of(0.11)).words).toBe('1 point more, worse')
  expect(changeOf(deploymentFrequency, of(2), of(1)).words).toBe('1 day per week less, worse')
  expect(changeOf(deploymentFrequency, of(1), of(3)).words).toBe('2 days per week more, better')
  expect(changeOf(changeLeadTime, of(60), of(60))).toMatchObject({ direction: 'same', words: 'as before' })
  expect(changeOf(changeLeadTime, of(null), of(60))).toMatchObject({
    difference: null,
    words: 'nothing to compare with',
  })
  expect(changeOf(changeLeadTime, of(60), of(null)).words).toBe('')
  // If the median week has no deployment, the value and its change are given as numbers of deployments.
  const some = (before: number, now: number) => changeOf(deploymentFrequency, of(0, before), of(0, now))
  expect(some(1, 10)).toEqual({
    difference: 0,
    direction: 'better',
    inWords: '9 deployments more',
    words: '9 deployments more, better',
  })
  expect(some(4, 3).words).toBe('1 deployment less, worse')
  expect(some(4, 4).words).toBe('as before')
  expect(changeOf(deploymentFrequency, of(1, 30), of(0, 10)).words).toBe('1 day per week less, worse')
})
