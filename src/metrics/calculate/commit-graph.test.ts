import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { graphOf } from './commit-graph.ts'
import { ShaIndex } from './sha-index.ts'

type History = readonly (readonly number[])[]

/** Commit n has some earlier commits as parents. */
const histories: fc.Arbitrary<History> = fc
  .array(fc.array(fc.nat(), { maxLength: 3 }), { minLength: 1, maxLength: 40 })
  .map((lists) => lists.map((list, index) => [...new Set(index === 0 ? [] : list.map((each) => each % index))]))

const name = (commit: number) => `c${commit.toString(16).padStart(3, '0')}`

function build(history: History) {
  const shas = new ShaIndex()
  const edges = history.flatMap((parents, commit) =>
    parents.length === 0
      ? [shas.add(name(commit)), -1]
      : parents.flatMap((parent) => [shas.add(name(commit)), shas.add(name(parent))]),
  )
  return graphOf(shas, Int32Array.from(edges))
}

function ancestors(history: History, commit: number, found = new Set<number>()): Set<number> {
  if (found.has(commit)) return found
  found.add(commit)
  for (const parent of history[commit]!) ancestors(history, parent, found)
  return found
}
/** A simple implementation to compare with: all that the old commit reaches, then depth first from the new one. */
function expected(history: History, from: number, to: number): string[] {
  const old = from < 0 ? new Set<number>() : ancestors(history, from)
  const visited: number[] = []
  const visit = (commit: number) => {
    if (old.has(commit) || visited.includes(commit)) return
    visited.push(commit)
    for (const parent of history[commit]!.toSorted((one, other) => one - other)) visit(parent)
  }
  visit(to)
  return visited.map(name)
}

describe('commit graph', () => {
  it('finds what lies between two commits of any history, in order', () => {
    fc.assert(
      fc.property(histories, fc.nat(), fc.nat(), (history, one, other) => {
        const graph = build(history)
        const read = (from: string, to: number) =>
          [...graph.range(from, name(to))].map((commit) => graph.shas.at(commit))
        const [from, to] = [one % history.length, other % history.length]
        expect(read(name(from), to)).toEqual(expected(history, from, to))
        // Marks of one walk must not affect the next.
        expect(read('', to)).toEqual(expected(history, -1, to))
        expect(read('unknown', to)).toEqual(expected(history, -1, to))
        expect(read(name(to), to)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  it('knows which commits it holds, and ends in a ring', () => {
    const shas = new ShaIndex()
    const [a, b, c] = [shas.add('a'), shas.add('b'), shas.add('c')]
    const graph = graphOf(shas, Int32Array.from([a, b, b, a, b, c]))
    expect([graph.has('a'), graph.has('b'), graph.has('c'), graph.has('d')]).toEqual([true, true, false, false])
    expect([...graph.range('', 'a')]).toEqual([a, b, c])
    expect([...graph.range('c', 'a')]).toEqual([a, b])
    expect([...graph.range('a', 'nowhere')]).toEqual([])
  })
})

describe('sha index', () => {
  it('numbers each text once, and gives it back', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.stringMatching(/^[!-~]{1,40}$/), { maxLength: 5000, size: 'max' }), (shas) => {
        const index = new ShaIndex()
        expect(shas.map((sha) => index.add(sha))).toEqual(shas.map((_, number) => number))
        expect(shas.map((sha) => index.add(sha))).toEqual(shas.map((_, number) => number))
        expect(shas.map((_, number) => index.at(number))).toEqual(shas)
        expect(shas.map((sha) => index.find(sha))).toEqual(shas.map((_, number) => number))
      }),
      { numRuns: 5 },
    )
    const index = new ShaIndex()
    expect(index.add('x'.repeat(41))).toBe(-1)
    expect(index.add('')).toBe(-1)
    expect(index.find('none')).toBe(-1)
  })
})
