/** Adds a plugin to the list of plugins: an import and an entry, each in alphabetical order. */
import type { SourceNames } from './names.ts'

const LIST = 'export const plugins: readonly Plugin[] = ['

export function withPlugin(index: string, { folder, variable }: SourceNames): string {
  const lines = index.split('\n')
  const before = (name: string, other: string) => (name < other ? -1 : 1)

  const folderOf = (line: string) => /^import \{ \w+ \} from '\.\/([\w-]+)\//.exec(line)?.[1]
  const imports = lines.flatMap((line, place) => (folderOf(line) === undefined ? [] : [place]))
  const list = lines.indexOf(LIST)
  const end = lines.indexOf(']', list)
  if (imports.length === 0 || list < 0 || end < 0) throw new Error('src/plugins/index.ts has no list of plugins')

  const entries = lines.slice(list + 1, end).map((_line, place) => list + 1 + place)
  const entryOf = (line: string) => /^ {2}(\w+)/.exec(line)?.[1] ?? ''
  const entryPlace = entries.find((place) => before(variable, entryOf(lines[place] as string)) < 0) ?? end
  const importPlace =
    imports.find((place) => before(folder, folderOf(lines[place] as string) as string) < 0) ??
    (imports.at(-1) as number) + 1

  return lines
    .toSpliced(entryPlace, 0, `  ${variable},`)
    .toSpliced(importPlace, 0, `import { ${variable} } from './${folder}/plugin.ts'`)
    .join('\n')
}
