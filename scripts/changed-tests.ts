/** Prints the test files that a change can reach: node scripts/changed-tests.ts [REVISION]; without one, since HEAD. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { importsOf } from './import-rules.ts'
import type { SourceFile } from './source-file.ts'

/** A file that imports a list of everything uses all of it, and does not test its parts. */
const LISTS = ['src/plugins/index']
const isTest = (path: string) => path.endsWith('.test.ts')
const withoutEnding = (path: string) => path.replace(/\.(ts|tsx|mjs)$/, '')

/** Finds test files that the changed files reach through imports, and those that bear the name of a changed plugin. */
export function reachedTests(files: readonly SourceFile[], changed: readonly string[]): string[] {
  const importers = new Map<string, string[]>()
  for (const { path, text } of files) {
    if (LISTS.includes(withoutEnding(path)) && !changed.includes(path)) continue
    for (const { target } of importsOf(path, text)) {
      const key = withoutEnding(target)
      importers.set(key, [...(importers.get(key) ?? []), path])
    }
  }
  const tests = files.map(({ path }) => path).filter(isTest)
  const reached = new Set(changed.flatMap((path) => [path, ...tests.filter((test) => standsBeside(test, path))]))
  for (const path of reached) for (const importer of importers.get(withoutEnding(path)) ?? []) reached.add(importer)
  return [...reached].filter((path) => isTest(path) && tests.includes(path)).sort()
}

/** Nothing imports a fixture or a page, so their tests are those of the same folder. Tests of a plugin bear its name. */
function standsBeside(test: string, changed: string): boolean {
  const folder = posix.dirname(changed)
  if (!/\.(ts|tsx|mjs)$/.test(changed) && folder !== '.' && test.startsWith(`${folder}/`)) return true
  if (changed.startsWith('web/')) return test.startsWith('tests/web/')
  const plugin = /^(?:src\/plugins\/|tests\/fake-)([^/.]+)\//.exec(changed)?.[1]
  return plugin !== undefined && test.split(/[/.]/).includes(plugin)
}

if (import.meta.main) {
  const root = posix.dirname(import.meta.dirname)
  const git = (...parameters: string[]) =>
    execFileSync('git', parameters, { cwd: root, encoding: 'utf8' }).split('\n').filter(Boolean)
  const files = git('ls-files', '--cached', '--others', '--exclude-standard', '*.ts', '*.tsx', '*.mjs')
    .filter((path) => existsSync(`${root}/${path}`))
    .map((path) => ({ path, text: readFileSync(`${root}/${path}`, 'utf8') }))
  const changed = [
    ...git('diff', '--name-only', process.argv[2] ?? 'HEAD'),
    ...git('ls-files', '--others', '--exclude-standard'),
  ]
  console.log(reachedTests(files, changed).join('\n'))
}
