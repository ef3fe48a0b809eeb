import { FatalError } from '../../errors.ts'

interface Node {
  readonly name: string
  /** Steps of one entity do not wait for each other because of tables; they only keep their own order. */
  readonly entity: unknown
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly step?: string
  /** Tables whose rows the subtask completes: only their conversion waits for it. */
  readonly completes?: readonly string[]
}

/** Puts writers of a table before its readers, and otherwise keeps the given order. A cycle is an error. */
export function inTableOrder<N extends Node>(nodes: readonly N[]): N[] {
  const writers = new Map<string, N[]>()
  for (const node of nodes) for (const table of node.writes) writers.set(table, [...(writers.get(table) ?? []), node])
  const completersOf = ({ step, reads }: N): N[] =>
    step === 'convert' ? nodes.filter(({ completes = [] }) => completes.some((table) => reads.includes(table))) : []
  const before = (node: N, index: number): N[] => [
    ...completersOf(node),
    ...node.reads.flatMap((table) => writers.get(table) ?? []).filter(({ entity }) => entity !== node.entity),
    ...nodes.slice(0, index).filter(({ entity }) => entity === node.entity),
  ]
  const waiting = new Map(nodes.map((node, index) => [node, new Set(before(node, index))]))
  const ordered: N[] = []
  while (waiting.size > 0) {
    const ready = [...waiting].find(([, earlier]) => earlier.size === 0)?.[0]
    if (!ready) throw new FatalError(`subtasks wait for each other: ${cycleIn(waiting).join(' → ')}`)
    ordered.push(ready)
    waiting.delete(ready)
    for (const earlier of waiting.values()) earlier.delete(ready)
  }
  return ordered
}

function cycleIn<N extends Node>(waiting: ReadonlyMap<N, ReadonlySet<N>>): string[] {
  const path: N[] = []
  let node = waiting.keys().next().value
  while (node && !path.includes(node)) {
    path.push(node)
    node = waiting.get(node)?.values().next().value
  }
  return [...path.slice(node ? path.indexOf(node) : 0), ...(node ? [node] : [])].map(({ name }) => name).reverse()
}
