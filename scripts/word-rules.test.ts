import { describe, expect, it } from 'vitest'
import { findDialect } from './word-rules.ts'

const check = (text: string, path = 'src/a.ts') => findDialect([{ path, text }])

describe('words that are not plain', () => {
  it.each([
    ['/** What a task needs. */', /src\/a\.ts:1: a comment does not begin with "What"/],
    ['const a = 1\n// Of the merge.', /src\/a\.ts:2: a comment does not begin with "Of"/],
    ['/**\n * Finds the twin of a record.\n */', /src\/a\.ts:2: "twin" is no plain word here: write counterpart/],
    ['const a = <b>What needs a hand</b>', /"needs a hand" is no plain word here: write needs attention/],
    ["const a = 'It is done in part'", /partly done/],
    ["throw new UserError('Two records are twins: keep one of them.')", /"twins"/],
    ['// First line,\n// of the heirs.', /src\/a\.ts:2: "heirs"/],
  ])('are refused: %j', (text, says) => {
    expect(check(text)).toEqual([expect.stringMatching(says)])
  })

  it('are refused in documents', () => {
    expect(check('# A\n\nBegin anew.', 'docs/a.md')).toEqual(['docs/a.md:3: "anew" is no plain word here: write again'])
  })

  it.each([
    '/** Returns what a task needs. */',
    '// Of course this is meant.',
    "const a = 'http://twin/'",
    'const twin = 1',
    "const a = ['twin', 'twin a']",
    'const a = `// What ${b}`',
    '/** Unknown fields are refused. */',
  ])('are something else: %j', (text) => {
    expect(check(text)).toEqual([])
  })
})
