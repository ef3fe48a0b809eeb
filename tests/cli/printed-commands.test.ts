/** Every command that a document or a message prints can be typed exactly as printed. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { beforeAll, expect, it } from 'vitest'
import { explainUsage } from '../../src/cli/explain-usage.ts'
import { commandsFor } from '../../src/cli/index.ts'

const root = join(import.meta.dirname, '../..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')
const commands = await commandsFor(undefined)
const NAMES = commands.map((command) => command.name()).join('|')
const PRINTED = new RegExp(`(npx )?\\bweir (?:${NAMES})\\b[^\`<\\n]*`, 'g')

interface Printed {
  readonly place: string
  readonly text: string
}

const isComment = (line: string) => /^\s*(\/?\*|\/\/)/.test(line)

function printedIn(path: string): Printed[] {
  const isCode = path.endsWith('.ts')
  return read(path)
    .split('\n')
    .map((line, index, lines) => (line.endsWith(' \\') ? `${line.slice(0, -2)} ${lines[index + 1]?.trim()}` : line))
    .flatMap((line, index) => {
      if (isCode && isComment(line)) return []
      return [...line.matchAll(PRINTED)].map(([text]) => ({ place: `${path}:${index + 1}`, text }))
    })
}

const printed = [
  'README.md',
  'CONTRIBUTING.md',
  ...globSync('docs/**/*.md', { cwd: root }),
  ...globSync('{src,traffic}/**/*.ts', { cwd: root, exclude: (path) => path.endsWith('.test.ts') }),
].flatMap(printedIn)

/** Returns the words to type: without comments, redirections and the rest of the sentence. */
function typed(text: string): string[][] {
  const [command = ''] = text.split(/ {2,}| # | > | && |[,;:]\s|[,;:.]$|'|\}|\$\{(?!name)|\\n/)
  const words = command
    .replace(/\\\|/g, '|')
    .replace(/[[\]"]/g, '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(text.startsWith('npx') ? 2 : 1)
  const place = words.findIndex((word) => word.includes('|') && !word.startsWith('-'))
  if (place < 0) return [words]
  return (words[place] as string).split('|').map((word) => words.with(place, word))
}

let errors = ''
const program = new Command('npx weir')
beforeAll(() => {
  const prepare = (command: Command) => {
    command.exitOverride()
    if (command.commands.length === 0) command.action(() => {})
    for (const each of command.commands) prepare(each)
  }
  for (const command of commands) program.addCommand(command)
  for (const command of commands) prepare(command)
  program.exitOverride()
  explainUsage(program)
  const catchErrors = (command: Command) => {
    const { outputError } = command.configureOutput()
    command.configureOutput({ writeErr: (text) => (errors += text), ...(outputError && { outputError }) })
    for (const each of command.commands) catchErrors(each)
  }
  catchErrors(program)
})
const parse = async (words: readonly string[]): Promise<string> => {
  errors = ''
  await program.parseAsync([...words], { from: 'user' }).catch(() => {})
  return errors
}

it('there are many, and in all places', () => {
  const places = new Set(printed.map(({ place }) => place.split(':')[0]))
  expect([...places]).toEqual(expect.arrayContaining(['README.md', 'docs/configuration.md', 'docs/traffic.md']))
  expect(printed.length).toBeGreaterThan(30)
})

it.each(printed)('$place: $text', async ({ text }) => {
  expect(text).toMatch(/^npx weir /)
  for (const words of typed(text)) {
    const problem = await parse(words)
    // In prose a command may appear without its arguments.
    if (/ is missing: add it/.test(problem) && words.length <= 3) continue
    expect(problem, words.join(' ')).toBe('')
  }
})

it.each([
  [['colect'], 'npx weir has no command colect; did you mean collect? There are: up, answer, collect,'],
  [['config', 'aply', 'x'], 'npx weir config has no command aply; did you mean apply? There are: export, plan, apply'],
  [['collect', 'shop', '--ful'], 'npx weir collect has no option --ful; did you mean --full? There are: --full,'],
  [['collect'], 'project is missing: add it. Usage: npx weir collect [options] <project>'],
  [['x'.repeat(100_000)], 'npx weir has no command xxx'],
])('what is wrong with %j', async (words, says) => {
  const problem = await parse(words)
  expect(problem).toContain(`weir: ${says}`)
  expect(problem.length).toBeLessThan(1000)
})

it('each command is loaded by its own name, and alone', async () => {
  for (const command of commands) expect(await commandsFor(command.name())).toEqual([command])
})
