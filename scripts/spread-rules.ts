/** `{ ...{ a, b }, c }` says `{ a, b, c }` in fewer lines, past the formatter: nobody reads it at once, and a diff of one name touches many. */

import { withoutText } from './lookup-rules.ts'
import { placeAt, type SourceFile } from './source-file.ts'

const CLOSING: Readonly<Record<'{' | '[', string>> = { '{': '}', '[': ']' }

/** One line for each literal that is spread into another one. */
export const findFoldedSpreads = (files: readonly SourceFile[]): string[] =>
  files.flatMap((file) => {
    const code = withoutText(file.text)
    return [...code.matchAll(/\.\.\.([{[])/g)]
      .filter(({ index, 1: opening }) => /^\s*[,)}\]]/.test(code.slice(endOf(code, index + 3, opening as '{' | '['))))
      .map(({ index, 1: opening }) => {
        const spread = `...${opening}…${CLOSING[opening as '{' | '[']}`
        return `${placeAt(file, index)}: write what stands inside of ${spread} without the spread`
      })
  })

/** The place after the bracket that closes this one. */
function endOf(code: string, start: number, opening: '{' | '['): number {
  let depth = 0
  for (let place = start; place < code.length; place++) {
    if (code[place] === opening) depth++
    else if (code[place] === CLOSING[opening] && --depth === 0) return place + 1
  }
  return code.length
}
