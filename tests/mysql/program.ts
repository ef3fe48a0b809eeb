/** The place of MySQL, and its installation. Debian has it only in its unstable release, so it gets a separate small Debian. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { serverAccount } from '../../src/database/embedded/account.ts'
import { mysqlOf } from '../support/mysql-program.ts'

const cache = join(import.meta.dirname, '../../node_modules/.cache')

/** The root folder of that Debian. */
export const root = join(cache, 'mysql-server')

const run = (command: string, parameters: readonly string[]) =>
  spawnSync(command, parameters, { encoding: 'utf8', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } })

function problemOf(command: string, ...parameters: readonly string[]): string | undefined {
  const { status, error, stdout, stderr } = run(command, parameters)
  const last = `${stdout}${stderr}`.trim().split('\n').at(-1)
  return status === 0 ? undefined : `${command} ${parameters.join(' ')}: ${error?.message ?? last}`
}

/** The mirror that this machine's apt is configured to use. */
function findMirror(): string | undefined {
  const format = '$(LABEL) $(REPO_URI)'
  const { stdout } = run('apt-get', ['indextargets', '--format', format, 'Created-By: Packages'])
  return stdout
    ?.split('\n')
    .find((line) => line.startsWith('Debian '))
    ?.split(' ')[1]
}

/** Installs the server. Returns the reason if that is not possible. */
export function install(): string | undefined {
  return existsSync(root) ? problemOfServer() : (make() ?? problemOfServer())
}

function make(): string | undefined {
  if (process.getuid?.() !== 0) return 'only root can install a Debian of its own'
  const problem =
    problemOf('apt-get', 'update') ?? problemOf('apt-get', 'install', '--yes', '--no-install-recommends', 'debootstrap')
  if (problem) return problem
  const mirror = findMirror()
  if (!mirror) return 'apt has no mirror of Debian'
  const unfinished = `${root}-unfinished`
  rmSync(unfinished, { recursive: true, force: true })
  mkdirSync(cache, { recursive: true })
  console.log('installing MySQL; this takes some minutes, once')
  const failed = problemOf(
    ...(['debootstrap', '--variant=minbase', '--include=mysql-server-core', 'sid', unfinished] as const),
    mirror,
  )
  if (failed) return failed
  rmSync(join(unfinished, 'var/cache/apt'), { recursive: true, force: true })
  renameSync(unfinished, root)
  return undefined
}

/** Checks the server. It does not run as root, and its account may lack access to the folder. */
function problemOfServer(): string | undefined {
  const program = mysqlOf(root)
  if (!program) return `${root} has no server: delete it, and try again`
  const [command, ...parameters] = program.serve(['--no-defaults', '--version'])
  const { status, stdout, error, stderr } = spawnSync(command, parameters, {
    encoding: 'utf8',
    cwd: '/',
    ...serverAccount(root),
  })
  if (status !== 0) return `the server in ${root} does not run: ${error?.message ?? stderr}`
  console.log(/Ver \S+/.exec(stdout)?.[0].replace('Ver', 'MySQL'))
  return undefined
}
