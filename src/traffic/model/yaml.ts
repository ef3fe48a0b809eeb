import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  type Node,
  type Pair,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import { requireCleanText } from '../../basics/clean-text.ts'
import { parseYaml } from '../../basics/yaml.ts'
import { messageOf } from '../../errors.ts'
import { type Finding, finding } from './finding.ts'

export interface YamlDocument {
  readonly value: unknown
  /** Line of a field, or of the nearest field above it that exists. */
  lineOf(path: string): number | undefined
  /** A plain value as it was typed, because `90.0` is not `90`. */
  sourceOf(path: readonly (string | number)[]): string | undefined
}

export type ReadDocument = YamlDocument | { readonly problem: Finding }

/** Every document of the text; one that cannot be read is a finding with its line. */
export function readYaml(text: string): readonly ReadDocument[] {
  const { documents, lines } = parseYaml(text)
  return documents.flatMap((document): readonly ReadDocument[] => {
    const broken = document.errors[0]
    if (broken !== undefined) {
      const line = broken.linePos?.[0].line
      const problem = finding('TS-Y01', '(file)', broken.message.split('\n')[0]!.replace(/ at line.*/s, ''))
      return [{ problem: line === undefined ? problem : { ...problem, line } }]
    }
    if (document.contents === null) return []
    const offsetOf = offsetsIn(document)
    const lineOf = (path: string): number | undefined => {
      const offset = offsetOf(path)
      return offset === undefined ? undefined : lines.linePos(offset).line
    }
    const sourceOf = (path: readonly (string | number)[]): string | undefined => {
      const node = document.getIn(path, true)
      return isScalar(node) ? node.source : undefined
    }
    try {
      const value: unknown = document.toJS()
      requireCleanText(value, 'The text')
      return [{ value, lineOf, sourceOf }]
    } catch (error) {
      // An alias without its anchor, or too many of them, shows only when values are made.
      return [{ problem: finding('TS-Y01', '(file)', messageOf(error)) }]
    }
  })
}

function elementAt(list: YAMLMap | YAMLSeq, key: string): Node | undefined {
  const element = /^\d+$/.test(key) ? list.get(Number(key), true) : undefined
  return isNode(element) ? element : undefined
}

/** Finds the places where fields begin. A map is searched once, however many of its fields are asked for. */
function offsetsIn({ contents }: Document.Parsed): (path: string) => number | undefined {
  const pairsOf = new WeakMap<object, Map<string, Pair<Node, Node | null>>>()
  const pairIn = (node: unknown, key: string) => {
    if (!isMap<Node, Node | null>(node)) return undefined
    let pairs = pairsOf.get(node)
    if (pairs === undefined) {
      pairs = new Map(node.items.flatMap((item) => (isScalar(item.key) ? [[String(item.key.value), item]] : [])))
      pairsOf.set(node, pairs)
    }
    return pairs.get(key)
  }
  return (path) => {
    let node: unknown = contents
    let offset = contents?.range?.[0]
    for (const part of path.match(/"[^"]+"|[^.[\]"]+/g) ?? []) {
      if (!isCollection(node)) break
      const key = part.startsWith('"') ? part.slice(1, -1) : part
      const pair = pairIn(node, key)
      const child = pair === undefined ? elementAt(node, key) : pair.value
      if (pair === undefined && !child) break
      offset = (pair?.key ?? child)?.range?.[0] ?? offset
      node = child
    }
    return offset
  }
}
