/** Suggests what can be written at a place in a plan: fields of a task, plugins, subtasks, options. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { syntaxTree } from '@codemirror/language'
import type { EditorState } from '@codemirror/state'
import type { AnswerTo } from '../api/ask.ts'
import { nameOf, propertyNamed, unquoted, valueIn } from './plan-places.ts'

export type PluginWords = AnswerTo<'GET /v1/plans/plugins'>[number]
type Node = ReturnType<typeof syntaxTree>['topNode']

const FIELDS: readonly Completion[] = [
  { label: 'plugin', detail: 'what works' },
  { label: 'subtasks', detail: 'which of its steps; none: the usual ones' },
  { label: 'options', detail: 'on what' },
]

export function completePlan(context: CompletionContext, plugins: readonly PluginWords[]): CompletionResult | null {
  const { state, pos } = context
  const node = syntaxTree(state).resolveInner(pos, -1)
  const isText = ['String', 'PropertyName', '⚠'].includes(node.name) && state.sliceDoc(node.from, node.from + 1) === '"'
  if (!isText && !context.explicit) return null
  const options = wordsAt(state, isText ? (node.parent ?? node) : node, node, plugins)
  if (options.length === 0) return null
  if (!isText) return { from: pos, options: options.map((each) => ({ ...each, apply: JSON.stringify(each.label) })) }
  const isClosed = node.to > node.from + 1 && state.sliceDoc(node.to - 1, node.to) === '"'
  return { from: node.from + 1, to: isClosed ? node.to - 1 : node.to, options: [...options], validFor: /^[^"]*$/ }
}

function wordsAt(state: EditorState, parent: Node, node: Node, plugins: readonly PluginWords[]): readonly Completion[] {
  const property = enclosing(node, 'Property')
  const list = enclosing(node, 'Array')
  // Inside the list of subtasks.
  const listOwner = list?.parent
  if (list && listOwner?.name === 'Property' && nameOf(state, listOwner) === 'subtasks' && isWithin(list, node)) {
    const plugin = pluginOf(state, listOwner.parent, plugins)
    return (plugin?.subtasks ?? []).map(({ name, isDefault }) => ({
      label: name,
      ...(isDefault ? {} : { detail: 'only when named' }),
    }))
  }
  // The value of "plugin".
  if (property && node.name !== 'PropertyName' && nameOf(state, property) === 'plugin') {
    return plugins.map(({ plugin, title }) => ({ label: plugin, detail: title }))
  }
  const object = node.name === 'PropertyName' ? parent.parent : enclosing(node, 'Object')
  if (object?.name !== 'Object') return []
  const owner = object.parent
  if (owner?.name === 'Property' && nameOf(state, owner) === 'options') {
    const plugin = pluginOf(state, owner.parent, plugins)
    return (plugin?.options ?? []).map(({ name, label }) => ({ label: name, detail: label }))
  }
  return owner?.name === 'Array' ? FIELDS : []
}

function enclosing(node: Node, name: string): Node | null {
  for (let each: Node | null = node; each; each = each.parent) if (each.name === name) return each
  return null
}

/** True if no property lies between the node and the list, so that the node is directly in the list. */
function isWithin(list: Node, node: Node): boolean {
  for (let each: Node | null = node; each && each.from !== list.from; each = each.parent) {
    if (each.name === 'Property' || each.name === 'Object') return false
  }
  return true
}

function pluginOf(state: EditorState, task: Node | null | undefined, plugins: readonly PluginWords[]) {
  const property = task && propertyNamed(state, task, 'plugin')
  const value = property && valueIn(property)
  const name = value && unquoted(state.sliceDoc(value.from, value.to))
  return plugins.find(({ plugin }) => plugin === name)
}
