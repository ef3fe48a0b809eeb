import { describe, expect, it } from 'vitest'
import { findFoldedSpreads } from './spread-rules.ts'

const check = (text: string) => findFoldedSpreads([{ path: 'src/a.ts', text }])

describe('a literal that is spread into another one', () => {
  it.each([
    'const a = { ...{ b, c }, d }',
    'const a = [...[b, c], d]',
    'const a = { d, ...{ b: { c } } }',
    'call(...[b, c])',
    'const a = {\n  ...{\n    b,\n  },\n}',
  ])('is refused: %j', (text) => {
    expect(check(text)).toEqual([expect.stringMatching(/^src\/a\.ts:[12]: write what stands inside of \.\.\.[{[]/)])
  })

  it.each([
    'const a = { ...b, d }',
    'const a = [...[b, c].map(d), e]',
    'const a = { ...(b && { c }) }',
    'const a = [...{ b }.c]',
    "const a = '...{ b }'",
    '// ...{ b }, c',
  ])('is something else: %j', (text) => {
    expect(check(text)).toEqual([])
  })
})
