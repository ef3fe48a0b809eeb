import { expect, it } from 'vitest'
import { sparkline } from './sparkline.ts'

it('draws from the least to the most, and a dot for what is missing', () => {
  expect(sparkline([1, 2, 3, 4, 5, 6, 7, 8])).toBe('▁▂▃▄▅▆▇█')
  expect(sparkline([10, null, 3])).toBe('█·▁')
  expect(sparkline([-1, 0, 1])).toBe('▁▅█')
  expect(sparkline([5, 5])).toBe('▄▄')
  expect(sparkline([null])).toBe('·')
  expect(sparkline([])).toBe('')
})
