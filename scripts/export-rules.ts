/** A name is exported only if another file imports it: whoever reads a file then knows what others depend on. */
import { posix } from 'node:path'
import { placeAt, type SourceFile } from './source-file.ts'

const EXPORTED =
  /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|const|let|class|interface|type|enum) (\w+)/gm
const IMPORTED = /\b(?:import|export)\s+(?:type\s+)?(?:\w+\s*,\s*)?\{([^}]*)\}\s*from\s*'([^']+)'/g
/** All names of such a file count as imported. */
const IMPORTED_WHOLE = /(?:\*\s+(?:as\s+\w+\s+)?from\s*|\bimport\(\s*|\bnew URL\(\s*)'(\.[^']+)'/g
/** Another file adds to these interfaces: they have to be exported for that. */
const EXTENDED = /declare module '([^']+)' \{([\s\S]*?)\n\}/g

const RULED = /^(?:src|web)\//

/** Tables of entities are a plugin's vocabulary: each is exported beside its entity, whether another one needs it yet or not. */
const isTableOfEntity = ({ path, text }: SourceFile, index: number) =>
  /^src\/plugins\/[^/]+\/entities\//.test(path) &&
  /^export const \w+ = \w*[tT]able\(/.test(text.slice(index, index + 200))

/** One line for each name that is exported for nobody. */
export function findUnusedExports(files: readonly SourceFile[]): string[] {
  const used = new Map<string, Set<string>>()
  const whole = new Set<string>()
  for (const { path, text } of files) {
    const target = (specifier: string) => posix.join(posix.dirname(path), specifier)
    const use = (specifier: string, names: readonly string[]) => {
      const known = used.get(target(specifier)) ?? new Set()
      for (const name of names) known.add(name)
      used.set(target(specifier), known)
    }
    for (const [, names = '', specifier = ''] of text.matchAll(IMPORTED)) use(specifier, namesOf(names))
    for (const [, specifier = ''] of text.matchAll(IMPORTED_WHOLE)) whole.add(target(specifier))
    for (const [, specifier = '', body = ''] of text.matchAll(EXTENDED))
      use(
        specifier,
        [...body.matchAll(/interface (\w+)/g)].map(([, name = '']) => name),
      )
  }
  return files
    .filter(({ path }) => RULED.test(path) && !whole.has(path))
    .flatMap((file) =>
      [...file.text.matchAll(EXPORTED)]
        .filter(({ index, 1: name = '' }) => !used.get(file.path)?.has(name) && !isTableOfEntity(file, index))
        .map(({ index, 1: name }) => `${placeAt(file, index)}: no other file imports ${name}: do not export it`),
    )
}

/** `a, type B, c as d` → a, B, c. */
const namesOf = (list: string): string[] =>
  list.split(',').map((each) =>
    each
      .trim()
      .replace(/^type\s+/, '')
      .replace(/\s+as\s+\w+$/, ''),
  )
