/** The blocks of code in the documents, and what the documents say about running them. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')
export const documents = globSync(['README.md', 'docs/**/*.md'], { cwd: root })
  .map((path) => path.replaceAll('\\', '/'))
  .sort()

export interface Block {
  readonly document: string
  readonly line: number
  readonly language: string
  readonly text: string
  /** From the comment before the block: `<!-- not run: needs Docker -->`, `<!-- run by tests/readme.test.ts -->`. */
  readonly notRun?: string
  readonly runBy?: string
}

const NOT_RUN = /^\s*<!-- not run: (\S.{9,}) -->$/
const RUN_BY = /^\s*<!-- run by (\S+) -->$/
const FENCE = /^( *)```(\w*)$/

export function blocksOf(document: string): Block[] {
  const lines = readFileSync(join(root, document), 'utf8').split('\n')
  const blocks: Block[] = []
  let before = ''
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const [, indent = '', language = ''] = FENCE.exec(line) ?? []
    if (FENCE.test(line)) {
      const end = lines.indexOf(`${indent}\`\`\``, at + 1)
      const text = lines
        .slice(at + 1, end)
        .map((each) => each.slice(indent.length))
        .join('\n')
      const notRun = NOT_RUN.exec(before)?.[1]
      const runBy = RUN_BY.exec(before)?.[1]
      blocks.push({ document, line: at + 1, language, text, ...(notRun && { notRun }), ...(runBy && { runBy }) })
      at = end
    }
    if (line.trim() !== '') before = line
  }
  return blocks
}

export const blocks = documents.flatMap(blocksOf)
export const isRun = ({ language, notRun, runBy }: Block) => language === 'sh' && !notRun && !runBy

/** Matches commands that are typed into a shell, and therefore belong into a block that says so. */
const TYPED = /^\s*(?:[A-Z_]+=\S+ )*(?:npx|npm|curl|docker|helm|kubectl|systemctl) /m
export const isTyped = ({ text }: Block) => TYPED.test(text)
