import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { messageOf, UserError } from '../../errors.ts'
import type { Account } from './account.ts'
import { type Programs, runAs } from './programs.ts'

/**
 * The files of one embedded server: `data/` belongs to PostgreSQL, `url` holds the address with the password (0600), and
 * `server.log` the log of PostgreSQL.
 */
export const dataOf = (folder: string) => join(folder, 'data')
export const logOf = (folder: string) => join(folder, 'server.log')
const urlFileOf = (folder: string) => join(folder, 'url')

export const readUrl = (folder: string): URL => new URL(readFileSync(urlFileOf(folder), 'utf8').trim())

export function writeUrl(folder: string, url: URL): void {
  const fresh = `${urlFileOf(folder)}.${process.pid}`
  writeFileSync(fresh, `${url}\n`, { mode: 0o600 })
  renameSync(fresh, urlFileOf(folder))
}

/** Creates the cluster if there is none, completely or not at all. */
export function ensureCluster(folder: string, programs: Programs, account: Account | undefined): void {
  if (existsSync(dataOf(folder))) {
    refuseOtherVersion(folder, programs)
    return
  }
  mkdirSync(dirname(folder), { recursive: true, mode: 0o700 })
  removeAbandoned(folder)
  createCluster(folder, programs, account)
}

function refuseOtherVersion(folder: string, programs: Programs): void {
  const version = readFileSync(join(dataOf(folder), 'PG_VERSION'), 'utf8').trim()
  if (version === programs.majorVersion) return
  throw new UserError(
    `The data in ${folder} was written by PostgreSQL ${version}, this is PostgreSQL ${programs.majorVersion}: ` +
      'start the release of Weir that wrote it and dump the data, or set DATA_FOLDER to another folder to begin again.',
  )
}

function createCluster(folder: string, programs: Programs, account: Account | undefined): void {
  const fresh = `${folder}.new-${process.pid}`
  try {
    const password = randomBytes(24).toString('base64url')
    const passwordFile = join(fresh, 'password')
    // The account owns only what it needs: root must not follow links that the account could create.
    mkdirSync(fresh, { mode: account ? 0o711 : 0o700 })
    mkdirSync(dataOf(fresh), { mode: 0o700 })
    writeFileSync(passwordFile, password, { mode: 0o600 })
    if (account) for (const path of [dataOf(fresh), passwordFile]) chownSync(path, account.uid, account.gid)

    const { options, dataPath } = runAs(account, dataOf(fresh))
    const run = (program: string, parameters: readonly string[], input = '') => {
      const { status, error, stderr } = spawnSync(program, parameters, { ...options, input, encoding: 'utf8' })
      if (error) throw error
      if (status !== 0) throw new Error(failureIn(stderr) ?? `${basename(program)} ended with code ${status}`)
    }
    run(programs.initdb, [
      `--pgdata=${dataPath}`,
      '--username=weir',
      `--pwfile=${dataPath}/../password`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Sorts by code point like C, but still knows that Ä is the capital of ä.
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
    ])
    run(programs.postgres, ['--single', '-D', dataPath, 'postgres'], 'create database lake\n')
    rmSync(passwordFile)
    writeUrl(fresh, new URL(`postgres://weir:${password}@127.0.0.1/lake`))
    renameSync(fresh, folder)
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true })
    // Another process was faster. Its cluster is used.
    if (!existsSync(dataOf(folder))) throw error
  }
}

/** Removes incomplete clusters that a killed first start left behind. */
function removeAbandoned(folder: string): void {
  const prefix = `${basename(folder)}.new-`
  for (const name of readdirSync(dirname(folder))) {
    const pid = Number(name.slice(prefix.length))
    if (name.startsWith(prefix) && !isAlive(pid)) rmSync(join(dirname(folder), name), { recursive: true, force: true })
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/**
 * Finds the reason for a failure in the output of PostgreSQL's programs. The first message is taken, since later ones are
 * mostly consequences.
 */
export const failureIn = (output: string): string | undefined =>
  [...output.matchAll(/(?:FATAL|PANIC|error|^postgres): +(.+)/gm)]
    .map(([, reason]) => reason)
    .find((it) => !/starting up/.test(it!))

/** Turns a failure of the embedded server into an error that says what the user can do. */
export function explain(error: unknown, folder: string): UserError {
  if (error instanceof UserError) return error
  const reason = messageOf(error)
  const at = statSync(folder, { throwIfNoEntry: false }) ? folder : dirname(folder)
  if (/ENOSPC|EDQUOT|No space left|wrote only \d+ of|quota exceeded/i.test(reason)) {
    return new UserError(
      `The disk that holds ${at} is full: free some space (a new database takes 50 MB), or set DATA_FOLDER to another disk.`,
      { cause: error },
    )
  }
  if (/EACCES|EPERM|EROFS|ENOTDIR|EEXIST|Permission denied|Read-only file system/i.test(reason)) {
    return new UserError(
      `Weir cannot write to ${at}: make it a folder that this user may write to, or set DATA_FOLDER to another one.`,
      { cause: error },
    )
  }
  return new UserError(
    `The embedded database in ${at} does not start: ${reason}. See ${logOf(folder)}, or set DB_URL.`,
    {
      cause: error,
    },
  )
}
