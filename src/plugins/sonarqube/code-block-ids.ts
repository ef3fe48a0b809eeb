import { createHash } from 'node:crypto'

interface CodeBlock {
  readonly issue_key: string
  readonly component: string
  readonly start_line: number
  readonly end_line: number
  readonly start_offset: number
  readonly end_offset: number
  readonly msg: string
}

/** Makes DevLake's ids. Each is the hash of its block and all blocks before it, so one function must be used for a whole extraction. */
export function codeBlockIds() {
  const hash = createHash('sha256')
  return (block: CodeBlock): string => {
    const { issue_key, component, start_line, end_line, start_offset, end_offset, msg } = block
    hash.update([issue_key, component, start_line, end_line, start_offset, end_offset, msg].join('-'))
    return hash.copy().digest('hex')
  }
}
