import { expect, it } from 'vitest'
import { bytesInWords } from './bytes-in-words.ts'

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1,023 bytes'],
  [1024, '1.0 kB'],
  [3_355_443, '3.2 MB'],
  [2 ** 30, '1.0 GB'],
  [2 ** 52, '4096.0 TB'],
])('%d', (bytes, words) => {
  expect(bytesInWords(bytes)).toBe(words)
})
