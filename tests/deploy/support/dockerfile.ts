/** Reads a Dockerfile as stages of instructions, and finds the files of the repository that its builder would see. */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, matchesGlob } from 'node:path'
import { read, root } from './weir.ts'

export interface Instruction {
  readonly name: string
  readonly text: string
}
export interface Stage {
  readonly image: string
  readonly name: string
  readonly instructions: readonly Instruction[]
}

export function parseDockerfile(text: string): Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { image: string; name: string; instructions: Instruction[] }[] = []
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? []
    if (name === '') throw new Error(`not an instruction: ${line}`)
    const [, image = '', own = 'final'] = name === 'FROM' ? (/^(\S+)(?: AS (\S+))?$/.exec(rest) ?? []) : []
    if (name === 'FROM') stages.push({ image, name: own, instructions: [] })
    else stages.at(-1)?.instructions.push({ name, text: rest })
  }
  return stages
}

export const all = ({ instructions }: Stage, name: string): string[] =>
  instructions.filter((each) => each.name === name).map(({ text }) => text)

export const environmentOf = (stage: Stage): Record<string, string> =>
  Object.fromEntries(all(stage, 'ENV').flatMap((text) => text.split(/\s+/).map((pair) => pair.split('=', 2))))

/** Parses `[--from=stage] source … target`. */
export function parseCopy(text: string): { from: string | undefined; sources: string[]; target: string } {
  const words = text.split(/\s+/)
  const from = words[0]?.startsWith('--from=') ? words.shift()?.slice('--from='.length) : undefined
  const target = words.pop() as string
  return { from, sources: words, target }
}

/** The last matching line of .dockerignore decides. */
const rules = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => ({ isKept: line.startsWith('!'), pattern: line.replace(/^!/, '') }))

export const isSent = (path: string): boolean => rules.findLast(({ pattern }) => matches(path, pattern))?.isKept ?? true

/** Unlike in a shell, a star also matches names that begin with a dot. */
const matches = (path: string, pattern: string) =>
  pattern === '*' || matchesGlob(path, pattern) || path.startsWith(`${pattern}/`)

/** The files under version control that still exist, and new ones. */
export const repositoryFiles = (): string[] =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && existsSync(join(root, path)))
