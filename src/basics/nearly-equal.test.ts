import { expect, it } from 'vitest'
import { nearlyEqual } from './nearly-equal.ts'

it.each([
  [216.4239375, 216.42393750000002],
  [[{ value: 0.1 + 0.2 }], [{ value: 0.3 }]],
  [
    { a: null, b: 'x' },
    { b: 'x', a: null },
  ],
  [0, 0],
])('%j is nearly %j', (one, other) => {
  expect(nearlyEqual(one, other)).toBe(true)
})

it.each([
  [216.42, 216.43],
  [0, 1e-12],
  [1, '1'],
  [[1, 2], [1]],
  [{ a: 1 }, { b: 1 }],
  [{ a: 1 }, { a: 1, b: 2 }],
  [[], {}],
  [null, {}],
])('%j is not nearly %j', (one, other) => {
  expect(nearlyEqual(one, other)).toBe(false)
})
