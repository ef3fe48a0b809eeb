import { expect, it } from 'vitest'
import { inTableOrder } from './order.ts'

const node = (name: string, reads: string[], writes: string[], entity: unknown = name) => ({
  name,
  reads,
  writes,
  entity,
})

it('puts writers before readers and keeps the given order otherwise', () => {
  const nodes = [
    node('convert b', ['tool_b', 'tool_a'], ['domain']),
    node('extract b', ['raw_b'], ['tool_b']),
    node('collect b', ['tool_a'], ['raw_b']),
    node('extract a', ['raw_a'], ['tool_a']),
    node('unrelated', [], []),
  ]
  expect(inTableOrder(nodes).map(({ name }) => name)).toEqual([
    'extract a',
    'collect b',
    'extract b',
    'convert b',
    'unrelated',
  ])
})

it('keeps the steps of one entity in their order, though it collects by rows that it extracts', () => {
  const nodes = [node('collect', ['tool'], ['raw'], 'same'), node('extract', ['raw'], ['tool'], 'same')]
  expect(inTableOrder(nodes).map(({ name }) => name)).toEqual(['collect', 'extract'])
})

it('refuses a cycle and names it', () => {
  const nodes = [node('one', ['b'], ['a']), node('two', ['a'], ['b']), node('three', [], ['c'])]
  expect(() => inTableOrder(nodes)).toThrow(/subtasks wait for each other: (one → two → one|two → one → two)/)
})

it('completes rows before they are converted, by what is collected of them', () => {
  const nodes = [
    { ...node('convert', ['tool'], ['domain']), step: 'convert' },
    { ...node('complete', ['tool', 'part'], []), completes: ['tool'] },
    { ...node('collect parts', ['tool'], ['raw']), step: 'collect' },
    node('extract parts', ['raw'], ['part']),
  ]
  expect(inTableOrder(nodes).map(({ name }) => name)).toEqual(['collect parts', 'extract parts', 'complete', 'convert'])
})
