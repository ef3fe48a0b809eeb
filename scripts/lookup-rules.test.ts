import { expect, it } from 'vitest'
import { findUnsafeLookups } from './lookup-rules.ts'

const check = (text: string) => findUnsafeLookups([{ path: 'src/some.ts', text }])

it.each([
  ['const NAMES: Record<string, string> = { a: "1" }', 'byName'],
  ['const NAMES: Readonly<Record<string, (one: { a: 1 }) => Record<string, X>>> = {\n  a: 1,\n}', 'byName'],
  ['  const found: Record<string, unknown> = {}', 'byName'],
  ['if (name in NAMES) return', 'use Object.hasOwn'],
  ['const steps = NAMES[name as keyof typeof NAMES]', 'Object.hasOwn'],
])('%s is refused', (text, says) => {
  expect(check(text)).toEqual([expect.stringContaining(says)])
})

it.each([
  'const NAMES: Record<string, string> = byName({ a: "1" })\nif (name in NAMES) return',
  'const KINDS: Record<Kind, string> = { a: "1" }',
  'const read = (names: Record<string, string> = {}) => names',
  '/** Sessions run in UTC. */ // and in UTC\nconst said = `it is in UTC`',
])('%s is fine', (text) => {
  expect(check(text)).toEqual([])
})

it('names the line, and leaves tests alone', () => {
  expect(check('\n\nconst A: Record<string, 1> = {}')[0]).toMatch(/^src\/some\.ts:3: /)
  expect(findUnsafeLookups([{ path: 'src/some.test.ts', text: 'const A: Record<string, 1> = {}' }])).toEqual([])
})
