import { expect, it } from 'vitest'
import { decimalOf, wholeOf } from './decimal.ts'

it('reads decimal digits, and nothing else that a number could be written as', () => {
  expect(['0', '7', '007', 12, '9007199254740991'].map(decimalOf)).toEqual([0, 7, 7, 12, 9007199254740991])
  const wrong = ['', ' 1', '1 ', '+1', '-1', '0x1', '1e0', '1.0', '0b1', '1_0', '٣', 'NaN', '9007199254740992', '-0']
  for (const each of [...wrong, -1, 1.5, Number.NaN, 2 ** 53, true, null, undefined, [1], { valueOf: () => 1 }, 1n]) {
    expect(decimalOf(each), String(each)).toBeUndefined()
  }
  // A request body may contain an object that cannot be converted to text.
  expect(decimalOf({ toString: 1 })).toBeUndefined()
  expect(['-3', -3, '3'].map(wholeOf)).toEqual([-3, -3, 3])
})
