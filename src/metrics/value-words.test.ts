import { expect, it } from 'vitest'
import { changeOf } from './change-words.ts'
import { changeFailureRate } from './definitions/change-failure-rate.ts'
import { changeLeadTime } from './definitions/change-lead-time.ts'
import { deploymentFrequency } from './definitions/deployment-frequency.ts'
import { minutesInWords, valueInWords } from './value-words.ts'

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
})

it('every unit has its words', () => {
  expect(valueInWords('share', 0.1254)).toBe('12.5 %')
  expect(valueInWords('days per week', 2)).toBe('2 days per week')
  expect(valueInWords('days per week', 1)).toBe('1 day per week')
  expect(valueInWords('lines', 1.001)).toBe('1 line')
  expect(valueInWords('comments', 1)).toBe('1 comment')
  expect(valueInWords('seconds', 12.34)).toBe('12.3 s')
  expect(valueInWords('seconds', 7500)).toBe('2 h 5 min')
  expect(valueInWords('count', 7)).toBe('7')
  expect(valueInWords('lines', 120)).toBe('120 lines')
  expect(valueInWords('minutes', null)).toBe('no value')
})

it('a change says by how much, and whether it is for the better', () => {
  expect(changeOf(changeLeadTime, 300, 60)).toMatchObject({ direction: 'better', words: '4 h less, better' })
  expect(changeOf(changeFailureRate, 0.1, 0.25).words).toBe('15 points more, worse')
  expect(changeOf(changeFailureRate, 0.1, 0.11).words).toBe('1 point more, worse')
  expect(changeOf(deploymentFrequency, 2, 1).words).toBe('1 day per week less, worse')
  expect(changeOf(deploymentFrequency, 1, 3).words).toBe('2 days per week more, better')
  expect(changeOf(changeLeadTime, 60, 60)).toMatchObject({ direction: 'same', words: 'as before' })
  expect(changeOf(changeLeadTime, null, 60)).toMatchObject({ difference: null, words: 'nothing to compare with' })
  expect(changeOf(changeLeadTime, 60, null).words).toBe('')
})
