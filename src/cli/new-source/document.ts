/** The worked examples of the documents: a new source is written from the same text that people read there. */
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

/** An invented tool that a page of the documents builds a plugin for. */
export interface Example {
  readonly document: string
  /** The folder of its plugin, which is called like the tool. */
  readonly folder: string
  /** Matches its name everywhere, with a small or a capital letter. */
  readonly named: RegExp
  /** Files in that folder, besides its test and its fake. */
  readonly files: readonly string[]
}

export const EXAMPLES = {
  builds: {
    document: 'docs/add-a-plugin.md',
    folder: 'src/plugins/buildbox',
    named: /[Bb]uildbox/g,
    files: ['kit.ts', 'entities/projects.ts', 'entities/builds.ts', 'plugin.ts', 'fixtures/unfinished.json'],
  },
  tickets: {
    document: 'docs/add-a-ticket-source.md',
    folder: 'src/plugins/deskbox',
    named: /[Dd]eskbox/g,
    files: [
      'kit.ts',
      'rules.ts',
      'entities/boards.ts',
      'entities/people.ts',
      'entities/tickets.ts',
      'plugin.ts',
      'fixtures/without-people.json',
    ],
  },
} as const satisfies Record<string, Example>

/** The files of an example as the document has them: path from the root → text. */
export function exampleFiles(document: string, { folder, files }: Example): Map<string, string> {
  const name = basename(folder)
  const fake = `fake-${name}`
  const paths = [...files, `${name}.test.ts`].map((file) => [`${folder}/${file}`, file] as const)
  const all = [...paths, [`tests/${fake}/${fake}.ts`, `${fake}.ts`] as const]
  return new Map(all.map(([path, file]) => [path, blockOf(document, file)]))
}
