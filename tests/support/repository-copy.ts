/** A copy of the repository that tests may write to. Its sources are copied, and it uses the same packages. */
import { execFile } from 'node:child_process'
import { cpSync, globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll } from 'vitest'

const root = join(import.meta.dirname, '../..')
/** Put before copied sources, because checking all types would take most of the time. */
const UNCHECKED = '// @ts-nocheck\n'
const COPIED = [
  'package.json',
  'tsconfig.json',
  'biome.json',
  '.gitignore',
  'src',
  'traffic',
  'scripts',
  'tests',
  'docs',
  'demo',
  'bench',
  'web',
]

export interface RepositoryCopy {
  readonly folder: string
  read(path: string): string
  write(path: string, text: string): void
  /** Runs a program of the copy, or of its packages, in the copy. Returns its exit code and everything that it printed. */
  run(file: string, ...parameters: string[]): Promise<{ readonly code: number; readonly printed: string }>
  /** Compiles these paths and returns the compiler's messages. The other files were checked before they were copied. */
  compile(...paths: string[]): Promise<{ readonly code: number; readonly printed: string }>
}

/** Copies the repository. The copy is removed after the tests of the file. */
export function copyRepository(): RepositoryCopy {
  const folder = mkdtempSync(join(tmpdir(), 'weir-copy-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const filter = (path: string) => !/\/web\/(?:dist|node_modules)$/.test(path)
  for (const name of COPIED) cpSync(join(root, name), join(folder, name), { recursive: true, filter })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const write = (path: string, text: string) => writeFileSync(join(folder, path), text)
  const run = async (file: string, ...parameters: string[]) => {
    const {
      code = 0,
      stdout,
      stderr,
    } = await promisify(execFile)(process.execPath, [join(folder, file), ...parameters], { cwd: folder }).catch(
      (error) => error,
    )
    return { code, printed: stdout + stderr }
  }
  return {
    folder,
    write,
    run,
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    compile(...paths) {
      for (const file of globSync('{src,traffic,tests,scripts,demo}/**/*.ts', { cwd: folder })) {
        if (paths.some((path) => file === path || file.startsWith(`${path}/`))) continue
        const text = readFileSync(join(folder, file), 'utf8')
        if (!text.startsWith(UNCHECKED)) write(file, UNCHECKED + text)
      }
      const include = [...paths, 'tests/support/global-setup.ts']
      write('tsconfig.copy.json', JSON.stringify({ extends: './tsconfig.json', include }))
      return run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.copy.json')
    },
  }
}
