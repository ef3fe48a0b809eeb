/**
 * The programs that tests start, each as a few files: from the sources, most of what such a program does is to load a thousand
 * of them. They are made once for a state of the sources, and their folder is named after it, so that none is ever older.
 */
import { type ChildProcessByStdio, type SpawnOptions, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs'
import { dirname, isAbsolute, join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { bundledName } from '../../scripts/bundled-name.ts'

export const root = dirname(dirname(import.meta.dirname))

export const PROGRAMS: readonly string[] = [
  'src/main.ts',
  'tests/collect/support/collect-child.ts',
  'tests/convergence/support/task-child.ts',
  'tests/fake-github/main.ts',
  'tests/fake-gitlab/main.ts',
  'tests/gitextractor/support/kill-target.ts',
  'tests/jenkins/support/collect-child.ts',
  'tests/pipelines/support/kill-target.ts',
  'tests/pipelines/support/server-target.ts',
  'tests/plugin-kit/kill-target.ts',
  'tests/plugin-kit/rotating-target.ts',
  'tests/standstill/support/server-target.ts',
  'tests/workers/support/server-target.ts',
  'tests/workers/support/worker-target.ts',
  // Plugins that these load by address.
  'src/plugins/jenkins/plugin.ts',
  'tests/convergence/workshop/plugin.ts',
  'tests/workers/support/fleet-plugin.ts',
  'tests/workers/support/no-plugins.ts',
]

/** Below it, one folder per state of the sources. */
export const BUNDLES = join(root, 'node_modules/.cache/programs')

/** All that may go into a program: paths from the repository. */
export const sourcesOfPrograms = (): string[] => [
  ...['package.json', 'node_modules/.package-lock.json', 'scripts/bundle.ts', 'scripts/bundled-name.ts'],
  ...['src', 'tests'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|mjs|json)$/.test(path) && !path.endsWith('.test.ts'))
      .map((path) => join(folder, path))
      .sort(),
  ),
]

/** The folder of the programs as the sources are now. */
export function wantedFolder(): string {
  const hash = createHash('sha256').update(root)
  for (const path of sourcesOfPrograms()) hash.update(`\0${path}\0`).update(readFileSync(join(root, path)))
  return join(BUNDLES, hash.digest('hex').slice(0, 32))
}

let bundleFolder: string | undefined

/** Asked once per process: what a test process has loaded itself is no newer. */
function folderOfBundle(): string {
  bundleFolder ??= wantedFolder()
  if (!existsSync(bundleFolder)) {
    const made = spawnSync(process.execPath, [join(import.meta.dirname, 'make-programs.ts')], {
      encoding: 'utf8',
    })
    if (made.status !== 0) throw new Error(`the programs of the tests cannot be made: ${made.stderr}`)
  }
  // Those that nobody uses any more are removed.
  const now = new Date()
  utimesSync(bundleFolder, now, now)
  return bundleFolder
}

/** The file to start, or to load, in place of a source: an absolute path, or one from the repository. */
export function programFile(source: string): string {
  const program = (isAbsolute(source) ? relative(root, source) : source).replaceAll('\\', '/')
  if (!PROGRAMS.includes(program)) throw new Error(`${program} must be in the list PROGRAMS.`)
  return join(folderOfBundle(), bundledName(program))
}

/** What Node keeps of the files that it has compiled goes with them. */
export const programEnvironment = () => ({ NODE_COMPILE_CACHE: join(folderOfBundle(), 'compiled') })

interface StartOptions extends SpawnOptions {
  readonly flags?: readonly string[]
}

/** Starts a program, `source` as for `programFile`, whose errors are shown unless somebody asks for them. */
export function startProgram(
  source: string,
  parameters: readonly string[],
  { flags = [], env = process.env, ...options }: StartOptions = {},
): ChildProcessByStdio<null, Readable, Readable> {
  const child = spawn(process.execPath, [...flags, programFile(source), ...parameters], {
    stdio: ['ignore', 'pipe', 'inherit'],
    ...options,
    env: { ...env, ...programEnvironment() },
  })
  // As far as its caller has asked for pipes.
  return child as ChildProcessByStdio<null, Readable, Readable>
}
