/** Names from outside must never reach a prototype: tables with arbitrary keys are made by `byName`, or are Maps. */
import { placeAt, type SourceFile } from './source-file.ts'

const DECLARED = /\b(?:const|let)\s+\w+\s*:\s*(?:Readonly<)?Record<\s*string\s*,/g
const ASSERTED_NAME = /\b[A-Z][A-Z_]+\[[^\]]+ as keyof/
const ASKED_IN = /\bin ([A-Z][A-Z_]{2,})\b/g
const isRuled = (path: string) => /^(?:src|traffic)\//.test(path) && !/\.test\.ts$|test-support/.test(path)

/** One line for each place that breaks the rule. */
export function findUnsafeLookups(files: readonly SourceFile[]): string[] {
  const ruled = files.filter(({ path }) => isRuled(path))
  const safe = new Set(
    ruled.flatMap(({ text }) => [...text.matchAll(/\b([A-Z_]{3,})\b[^\n]*= byName\(/g)].map(([, name]) => name)),
  )
  return ruled.flatMap((file) => {
    const { path, text } = file
    const tables = [...text.matchAll(DECLARED)]
      .filter(({ index }) => /^[^\n]*=\s*\{/.test(text.slice(endOfType(text, index))))
      .map(({ index }) => `${placeAt(file, index)}: a table by any name is made by byName({ … })`)
    const asserted = text
      .split('\n')
      .flatMap((line, index) =>
        ASSERTED_NAME.test(line) ? [`${path}:${index + 1}: ask Object.hasOwn before a name is taken for a key`] : [],
      )
    const asked = [...withoutText(text).matchAll(ASKED_IN)]
      .filter(([, name]) => !safe.has(name))
      .map(({ index, 1: name }) => `${placeAt(file, index)}: "in ${name}" asks its prototype too: use Object.hasOwn`)
    return [...tables, ...asserted, ...asked]
  })
}

/** The end of the declared type: just before its `=`, and past those inside brackets and arrows. */
function endOfType(text: string, start: number): number {
  let depth = 0
  for (let place = start; place < text.length; place++) {
    const each = text[place]
    if (each === '<' || each === '(' || each === '{') depth++
    else if (each === ')' || each === '}' || (each === '>' && text[place - 1] !== '=')) depth--
    else if (each === '=' && depth === 0 && text[place + 1] !== '>') return place
  }
  return text.length
}

/** Puts blanks in place of comments and texts, so that the length and all positions stay the same. */
export const withoutText = (code: string): string =>
  code.replace(/\/\*[\s\S]*?\*\/|\/\/[^\n]*|'[^'\n]*'|"[^"\n]*"|`[^`]*`/g, (found) => found.replace(/[^\n]/g, ' '))
