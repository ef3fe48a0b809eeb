/** Names of plugins may appear in src/plugins only, because all other code treats all plugins alike. */
import type { SourceFile } from './source-file.ts'

/** Files in which such a word has another meaning. */
const OTHERWISE: readonly { readonly path: RegExp; readonly names: RegExp }[] = [
  // The dashboards of one tool are named after it; what they show is data of that tool alone.
  { path: /^src\/dashboards\/definitions\//, names: /./ },
  // Here it is a kind of receiver of alerts.
  { path: /^src\/alerts\//, names: /^webhook$/ },
]

const DECLARED = /\bname: '([a-z0-9_]+)',\s+title: '/g
const LITERAL = /'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`/g

/** The plugins that the files declare. */
export const pluginNames = (files: readonly SourceFile[]): ReadonlySet<string> =>
  new Set(
    files
      .filter(({ path }) => /^src\/plugins\/[^/]+\/[\w-]*plugin\.ts$/.test(path))
      .flatMap(({ text }) => [...text.matchAll(DECLARED)].map(([, name]) => name as string)),
  )

/** One line for each literal outside of src/plugins that is a plugin's name, or the address of one of its routes. */
export function findPluginNames(files: readonly SourceFile[]): string[] {
  const names = pluginNames(files)
  return files
    .filter(({ path }) => /^src\/.*\.ts$/.test(path) && !/^src\/plugins\/|\.test\.ts$|(^|\/)test-/.test(path))
    .flatMap(({ path, text }) =>
      text.split('\n').flatMap((line, index) =>
        namesIn(withoutComments(line), names)
          .filter((name) => !OTHERWISE.some((each) => each.path.test(path) && each.names.test(name)))
          .map((name) => `${path}:${index + 1}: the plugin ${name} is named outside of src/plugins`),
      ),
    )
}

const withoutComments = (line: string) => line.replace(/^\s*(\/\*\*|\*|\/\/).*$|\s\/\/ .*$|\/\*\*.*\*\//g, '')

function namesIn(line: string, names: ReadonlySet<string>): string[] {
  return [...line.matchAll(LITERAL)].flatMap(([, single, double, template]) => {
    const literal = single ?? double ?? template ?? ''
    const [, routed = literal] = /^(?:[A-Z]+ )?\/plugins\/(\w+)/.exec(literal) ?? []
    return names.has(routed) ? [routed] : []
  })
}
