/** Installs Python programs that only extra checks need, each in its own environment below node_modules/.cache. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))

export interface PythonProgram {
  readonly path: string
  /** The reason why the program is not available here. Undefined if it is. */
  readonly problem: string | undefined
}

/** Installs a program. `requirement` has no version, as in `moto[server]`: the version is a separate parameter. */
export function installProgram(requirement: string, version: string, program: string): PythonProgram {
  const cache = join(root, 'node_modules/.cache', `${requirement.split('[')[0]}-${version}`)
  const path = join(cache, 'bin', program)
  if (existsSync(path)) return { path, problem: undefined }
  const run = (command: string, ...parameters: string[]) => {
    const { status, error, stderr } = spawnSync(command, parameters, { encoding: 'utf8' })
    return status === 0
      ? undefined
      : `${command} ${parameters.join(' ')}: ${error?.message ?? stderr.trim().split('\n').at(-1)}`
  }
  const problem =
    run('python3', '-m', 'venv', cache) ??
    run(join(cache, 'bin/pip'), 'install', '--quiet', `${requirement}==${version}`)
  if (problem) rmSync(cache, { recursive: true, force: true })
  return { path, problem }
}
