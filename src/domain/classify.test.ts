import { expect, test } from 'vitest'
import { classify } from './classify.ts'

const RESULT = { SUCCESS: ['success', 'Passed'], FAILURE: ['failed', 'passed', 'canceled'] }

test('words are found in any letter case', () => {
  expect(classify('FAILED', RESULT, '')).toBe('FAILURE')
  expect(classify('Success', RESULT, '')).toBe('SUCCESS')
})

test('the first list that holds a word wins', () => {
  expect(classify('passed', RESULT, '')).toBe('SUCCESS')
})

test('unknown and missing words get the fallback', () => {
  for (const word of ['running', '', null, undefined]) expect(classify(word, RESULT, 'OTHER')).toBe('OTHER')
})
