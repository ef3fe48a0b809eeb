/** The files of a new source, and whether there is room for them. */
import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UserError } from '../../errors.ts'
import { type Example, exampleFiles } from './document.ts'
import { renamed, type SourceNames } from './names.ts'
import { withPlugin } from './register.ts'

export const INDEX = 'src/plugins/index.ts'

/** Only the folder of a plugin may name it, so a word that the rest of the code uses cannot be a name. */
function usesOf(root: string, name: string): string | undefined {
  const literals = ["'", '"', '`'].map((quote) => quote + name + quote)
  return globSync('src/**/*.ts', { cwd: root }).find((path) => {
    const isRuled = !path.startsWith(join('src', 'plugins')) && !path.endsWith('.test.ts')
    return isRuled && literals.some((literal) => readFileSync(join(root, path), 'utf8').includes(literal))
  })
}

/** All files to write, path → text; throws before any is written. */
export function newFiles(
  root: string,
  names: SourceNames,
  plugins: readonly { readonly name: string }[],
  example: Example,
): Map<string, string> {
  const { name, folder, variable } = names
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  if (plugins.some((plugin) => plugin.name === name)) {
    throw new UserError(`There is a plugin ${name} already: choose another name, or change ${INDEX} first.`)
  }
  const own = basename(example.folder)
  const texts = exampleFiles(read(example.document), example)
  const index = read(INDEX)
  const holds = (text: string) => variable !== own && text.match(/\w+/g)?.includes(variable)
  const user = holds(index) ? INDEX : [...texts.values()].some(holds) ? example.document : usesOf(root, name)
  if (user) {
    throw new UserError(`"${name}" has another meaning in ${user}: choose another name, such as ${name}_tool.`)
  }
  const rename = (text: string) => renamed(text, example.named, names)
  const files = new Map([...texts].map(([path, text]) => [rename(path), rename(text)]))
  for (const place of [`src/plugins/${folder}`, ...files.keys()]) {
    if (existsSync(join(root, place)))
      throw new UserError(`${place} exists already: remove it, or choose another name.`)
  }
  return files.set(INDEX, withPlugin(index, names))
}
