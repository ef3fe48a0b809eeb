import { expect, it } from 'vitest'
import { areSure, inPart } from './long-lists.ts'

const long = Array.from({ length: 5000 }, (_, index) => index)

it('cuts long lists and nothing else', () => {
  expect(inPart(long)).toEqual(long.slice(0, 1000))
  expect(inPart({ a: long, b: [1], c: 'x' })).toEqual({ a: long.slice(0, 1000), b: [1], c: 'x' })
  expect(inPart({ a: [{ b: [long] }] })).toEqual({ a: [{ b: [long.slice(0, 1000)] }] })
  // A list may have as many as are looked at first, and the bytes of a file are no list.
  expect(inPart(long.slice(0, 1000))).toBeUndefined()
  expect(inPart(long.slice(0, 1001))).toEqual(long.slice(0, 1000))
  expect(inPart({ file: Buffer.alloc(5000) })).toBeUndefined()
  expect(inPart({ file: Uint8Array.from(long), a: long })).toHaveProperty('file', Uint8Array.from(long))
  expect(inPart({ a: [1], b: null })).toBeUndefined()
  expect(inPart('text')).toBeUndefined()
  expect(inPart(null)).toBeUndefined()
})

it('believes failures that the rest of a list cannot mend', () => {
  expect(areSure([{ code: 'custom' }, { code: 'invalid_type' }])).toBe(true)
  expect(areSure([{ code: 'custom' }, { code: 'too_small' }])).toBe(false)
  const [text, list] = [[{ code: 'invalid_type' }], [{ code: 'too_big' }, { code: 'invalid_value' }]]
  expect(areSure([{ code: 'invalid_union', errors: [text, list] }])).toBe(true)
  expect(areSure([{ code: 'invalid_union', errors: [text, [{ code: 'too_small' }]] }])).toBe(false)
  expect(areSure([{ code: 'invalid_union', errors: [] }])).toBe(false)
})
