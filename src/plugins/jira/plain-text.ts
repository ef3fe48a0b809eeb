/**
 * Returns text as it is, and an Atlassian document as people would write it without markup: each block on its own line, lists
 * with dashes and numbers, quotes with `>`, the cells of a table side by side, and code as it is.
 * https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
 */

import { byName } from '../../basics/by-name.ts'
import type { RawRecord } from '../../database/table.ts'
export function plainText(content: RawRecord): string {
  if (content === null || content === undefined) return ''
  return typeof content === 'string' ? content : linesOf(content).join('\n').trimEnd()
}

type Lines = readonly string[]

/** Nodes whose text continues the line around them. An unknown node counts as one of them unless it has content. */
const INLINE = new Set(['text', 'hardBreak', 'mention', 'emoji', 'status', 'date', 'inlineCard', 'placeholder'])
const isInline = ({ type, content }: RawRecord) => INLINE.has(type) || (!content && !BLOCKS[type])

const BLOCKS: Readonly<Record<string, (node: RawRecord) => Lines>> = byName({
  codeBlock: (node) => inlineText(childrenOf(node)).split('\n'),
  blockquote: (node) => linesIn(node).map((line) => `> ${line}`),
  bulletList: (node) => childrenOf(node).flatMap((item) => hanging('- ', linesOf(item))),
  orderedList: (node) =>
    childrenOf(node).flatMap((item, index) => hanging(`${(node.attrs?.order ?? 1) + index}. `, linesOf(item))),
  taskList: (node) => childrenOf(node).flatMap(taskLines),
  decisionList: (node) => childrenOf(node).flatMap((item) => hanging('- ', linesOf(item))),
  expand: titled,
  nestedExpand: titled,
  rule: () => ['---'],
  tableRow: (node) => [
    childrenOf(node)
      .map((cell) => linesOf(cell).join(' ').trim())
      .join(' | '),
  ],
})

const childrenOf = ({ content }: RawRecord): readonly RawRecord[] => content ?? []

function linesOf(node: RawRecord): Lines {
  return BLOCKS[node.type]?.(node) ?? (node.content || !isInline(node) ? linesIn(node) : textLines([node]))
}

/** Returns the lines of everything in a node. Inline nodes that follow each other share a line. */
function linesIn(node: RawRecord): Lines {
  const lines: string[] = []
  let inline: RawRecord[] = []
  for (const child of childrenOf(node)) {
    if (isInline(child)) {
      inline.push(child)
      continue
    }
    lines.push(...textLines(inline), ...linesOf(child))
    inline = []
  }
  return [...lines, ...textLines(inline)]
}

const textLines = (nodes: readonly RawRecord[]): Lines =>
  inlineText(nodes)
    .split('\n')
    .filter((line) => line.trim() !== '')

const inlineText = (nodes: readonly RawRecord[]): string => nodes.map(textOf).join('')

/** Mentions, emojis and statuses contain their text, and cards their address. */
function textOf({ type, text, attrs, content }: RawRecord): string {
  if (type === 'hardBreak') return '\n'
  if (type === 'date') return dayOf(Number(attrs?.timestamp))
  return content ? inlineText(content) : String(text ?? attrs?.text ?? attrs?.url ?? attrs?.shortName ?? '')
}
const dayOf = (time: number): string => (Number.isFinite(time) ? new Date(time).toISOString().slice(0, 10) : '')

/** The subtasks of a task are in a list beside it. */
function taskLines(node: RawRecord): Lines {
  if (node.type === 'taskList') return hanging('  ', linesOf(node))
  return hanging(node.attrs?.state === 'DONE' ? '- [x] ' : '- [ ] ', linesOf(node))
}

function titled(node: RawRecord): Lines {
  const { title } = node.attrs ?? {}
  return [...(title ? [String(title)] : []), ...linesIn(node)]
}

/** Puts a mark before the first line, and indents the others to match. */
const hanging = (mark: string, lines: Lines): Lines =>
  (lines.length > 0 ? lines : ['']).map((line, index) =>
    index === 0 ? `${mark}${line}`.trimEnd() : `${' '.repeat(mark.length)}${line}`,
  )
