import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command, Option } from 'commander'
import { writeUserFolder } from '../basics/user-file.ts'
import { messageOf, UserError } from '../errors.ts'
import { plugins } from '../plugins/index.ts'
import { EXAMPLES } from './new-source/document.ts'
import { INDEX, newFiles } from './new-source/files.ts'
import { sourceNames } from './new-source/names.ts'

const root = join(import.meta.dirname, '../..')
const FORMATTER = 'node_modules/@biomejs/biome/bin/biome'

/** Names of other lengths break lines in other places. Without the development tools, users format the files later. */
function format(paths: readonly string[]): void {
  if (!existsSync(join(root, FORMATTER))) return
  try {
    execFileSync(process.execPath, [join(root, FORMATTER), 'check', '--write', ...paths], { cwd: root, stdio: 'pipe' })
  } catch (error) {
    console.error(`The files are not formatted: run npm run format. (${messageOf(error).split('\n')[0]})`)
  }
}

export const newSource = new Command('new-source')
  .description('write the plugin of a new source, with its fake and its tests, into a clone of the repository')
  .argument('<name>', 'its name in addresses and tables, such as acme_ci')
  .option('--title <title>', 'its name for people, such as "Acme CI"; default: made of the name')
  .addOption(
    new Option('--kind <kind>', 'what it has most of: the example that it begins with')
      .choices(Object.keys(EXAMPLES))
      .default('builds'),
  )
  .action(async (name: string, { title, kind }: { title?: string; kind: keyof typeof EXAMPLES }) => {
    const example = EXAMPLES[kind]
    if (![example.document, INDEX].every((path) => existsSync(join(root, path)))) {
      throw new UserError('A source is written into the source code of Weir: run this in a clone of the repository.')
    }
    const names = sourceNames(name, title)
    const files = newFiles(root, names, plugins, example)
    // Files that exist were refused before, except the list of plugins, which gets one more line.
    await writeUserFolder(root, files, { force: true })
    format([...files.keys()])
    const { folder } = names
    console.log(
      [
        `${names.title} is a source now. Written, or changed:`,
        ...[...files.keys()].map((path) => `  ${path}`),
        'Next:',
        `  npx vitest run src/plugins/${folder}    its first rows, from the fake`,
        '  npm run docs    documents and the API types of the web client',
        `Then put your tool in place of the example: ${example.document} says where.`,
      ].join('\n'),
    )
  })
