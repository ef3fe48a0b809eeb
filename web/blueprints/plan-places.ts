/** Finds places in the text of a plan. */
import { ensureSyntaxTree, syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'

type Node = ReturnType<typeof syntaxTree>['topNode']

const VALUES = ['Object', 'Array', 'String', 'Number', 'True', 'False', 'Null']
const LONGEST_PARSE_MS = 500

const childrenOf = (node: Node): Node[] => {
  const children: Node[] = []
  for (let child = node.firstChild; child; child = child.nextSibling) children.push(child)
  return children
}

/** Returns the name of a property. */
export function nameOf(state: EditorState, property: Node): string | undefined {
  const name = property.getChild('PropertyName')
  return name ? unquoted(state.sliceDoc(name.from, name.to)) : undefined
}

export const unquoted = (text: string): string => {
  try {
    return String(JSON.parse(text))
  } catch {
    return text.replace(/^"|"$/g, '')
  }
}

export const valueIn = (property: Node): Node | undefined =>
  childrenOf(property).find(({ name }) => VALUES.includes(name))

export const propertyNamed = (state: EditorState, object: Node, name: string): Node | undefined =>
  object.getChildren('Property').find((property) => nameOf(state, property)?.toLowerCase() === name.toLowerCase())

/** Finds the part of the plan that a path leads to, or follows the path as far as possible. */
export function nodeAt(state: EditorState, path: readonly (string | number)[]): { from: number; to: number } {
  const tree = ensureSyntaxTree(state, state.doc.length, LONGEST_PARSE_MS) ?? syntaxTree(state)
  let found = childrenOf(tree.topNode).find(({ name }) => VALUES.includes(name)) ?? tree.topNode
  let shown = found
  for (const step of path) {
    if (typeof step === 'number') {
      const child = childrenOf(found).filter(({ name }) => VALUES.includes(name))[step]
      if (!child) break
      found = child
      shown = child
    } else {
      const property = propertyNamed(state, found, step)
      if (!property) break
      shown = property
      found = valueIn(property) ?? property
    }
  }
  // If the part is long, its first line is enough.
  const { to } = state.doc.lineAt(shown.from)
  return { from: shown.from, to: Math.max(shown.from, Math.min(shown.to, to)) }
}
