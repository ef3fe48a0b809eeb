/**
 * The programs that tests start, each bundled into a few files. Started from its sources, such a program would spend most of
 * its time loading a thousand files. The bundles are made once per state of the sources. Their folder is named after that
 * state, so a bundle is never outdated.
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
  'tests/traffic/support/crash-child.ts',
  'tests/workers/support/server-target.ts',
  'tests/workers/support/worker-target.ts',
  // Plugins that the programs above load by address.
  'src/plugins/jenkins/plugin.ts',
  'tests/convergence/workshop/plugin.ts',
  'tests/workers/support/fleet-plugin.ts',
  'tests/workers/support/no-plugins.ts',
]

/** Contains one folder per state of the sources. */
export const BUNDLES = join(root, 'node_modules/.cache/programs')

/** Paths, relative to the repository, of all files that may go into a program. */
export const sourcesOfPrograms = (): string[] => [
  'package.json',
  'node_modules/.package-lock.json',
  'scripts/bundle.ts',
  'scripts/bundled-name.ts',
  ...['src', 'traffic', 'tests'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(?:ts|mjs|json)$/.test(path) && !path.endsWith('.test.ts'))
      .map((path) => join(folder, path))
      .sort(),
  ),
]

/** The folder for programs made from the current sources. */
export function wantedFolder(): string {
  const hash = createHash('sha256').update(root)
  for (const path of sourcesOfPrograms()) hash.update(`\0${path}\0`).update(readFileSync(join(root, path)))
  return join(BUNDLES, hash.digest('hex').slice(0, 32))
}

let bundleFolder: string | undefined

/** Computed once per process: the code that a test process has loaded itself is no newer. */
function folderOfBundle(): string {
  bundleFolder ??= wantedFolder()
  if (!existsSync(bundleFolder)) {
    const made = spawnSync(process.execPath, [join(import.meta.dirname, 'make-programs.ts')], {
      encoding: 'utf8',
    })
    if (made.status !== 0) throw new Error(`the programs of the tests cannot be made: ${made.stderr}`)
  }
  // Marks the folder as used: folders that nobody uses any more are removed.
  const now = new Date()
  utimesSync(bundleFolder, now, now)
  return bundleFolder
}

/** Returns the bundled file to start or load instead of a source. `source` is an absolute path or relative to the repository. */
export function programFile(source: string): string {
  const program = (isAbsolute(source) ? relative(root, source) : source).replaceAll('\\', '/')
  if (!PROGRAMS.includes(program)) throw new Error(`${program} must be in the list PROGRAMS.`)
  return join(folderOfBundle(), bundledName(program))
}

/** Keeps Node's compile cache in the same folder, so that both are removed together. */
export const programEnvironment = () => ({ NODE_COMPILE_CACHE: join(folderOfBundle(), 'compiled') })

interface StartOptions extends SpawnOptions {
  readonly flags?: readonly string[]
}

/** Starts a program. `source` is as for `programFile`. Its errors are shown unless the caller reads them. */
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
  // The types promise pipes, which exist only if the caller asked for them.
  return child as ChildProcessByStdio<null, Readable, Readable>
}
