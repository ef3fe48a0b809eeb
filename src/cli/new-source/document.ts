/** The worked example of docs/add-a-plugin.md: what is read there is what is written for a new source. */

import { basename } from 'node:path'

const FENCE = '```'

/** The first block of code after the heading, or after the words, that end with the name of a file. */
export function blockOf(document: string, file: string): string {
  const lines = document.split('\n')
  const named = lines.findIndex(
    (line) => (line.startsWith('#') && line.endsWith(` ${file}`)) || line.endsWith(`\`${file}\`:`),
  )
  const start = lines.findIndex((line, index) => index > named && line.startsWith(FENCE))
  const end = lines.findIndex((line, index) => index > start && line === FENCE)
  if (named < 0 || start < 0 || end < 0) throw new Error(`the documents have no block for ${file}`)
  return `${lines.slice(start + 1, end).join('\n')}\n`
}

const PLUGIN = 'src/plugins/buildbox'
const FILES: readonly (readonly [folder: string, files: readonly string[]])[] = [
  [PLUGIN, ['kit.ts', 'entities/projects.ts', 'entities/builds.ts', 'plugin.ts']],
  [PLUGIN, ['buildbox.test.ts', 'fixtures/unfinished.json']],
  ['tests/fake-buildbox', ['fake-buildbox.ts']],
]
export const EXAMPLE = basename(PLUGIN)

/** Path from the root → text, as the document has them. */
export const exampleFiles = (document: string): Map<string, string> =>
  new Map(
    FILES.flatMap(([folder, files]) => files.map((file) => [`${folder}/${file}`, blockOf(document, file)] as const)),
  )
