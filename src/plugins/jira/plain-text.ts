/** Nodes that stand on lines of their own. */
const BLOCKS = new Set([
  'paragraph',
  'heading',
  'blockquote',
  'codeBlock',
  'rule',
  'panel',
  'expand',
  'listItem',
  'taskItem',
  'decisionItem',
  'tableRow',
  'mediaSingle',
])

/**
 * Text as it is, or the text of an Atlassian document, one line a block.
 * https://developer.atlassian.com/cloud/jira/platform/apis/document/structure/
 */
export function plainText(content: any): string {
  if (content === null || content === undefined) return ''
  return typeof content === 'string'
    ? content
    : [...linesOf(content)]
        .join('')
        .replace(/\n{2,}/g, '\n')
        .trim()
}

function* linesOf(node: any): Generator<string> {
  if (node.type === 'hardBreak') yield '\n'
  // Mentions, emojis, statuses and dates carry their text, cards their address.
  yield String(node.text ?? node.attrs?.text ?? node.attrs?.url ?? '')
  for (const child of node.content ?? []) yield* linesOf(child)
  if (node.type === 'tableCell' || node.type === 'tableHeader') yield ' '
  if (BLOCKS.has(node.type)) yield '\n'
}
