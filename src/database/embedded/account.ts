import { execFileSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { UserError } from '../../errors.ts'

export interface Account {
  readonly uid: number
  readonly gid: number
}

const ACCOUNT = 'weir'

/**
 * The account that runs the server and owns its files; undefined means the one that runs this process. PostgreSQL refuses to
 * run as root. So root runs the server as the owner of the data, or as a system account.
 */
export function serverAccount(folder: string): Account | undefined {
  const uid = process.getuid?.()
  const owner = statSync(folder, { throwIfNoEntry: false })
  if (uid !== 0) {
    if (owner && uid !== undefined && owner.uid !== uid) {
      throw new UserError(
        `${folder} belongs to user ${owner.uid}, this is user ${uid}: start as that user or as root, or set DATA_FOLDER to another folder.`,
      )
    }
    return undefined
  }
  if (process.platform !== 'linux') {
    throw new UserError('The embedded database cannot run as root here: start as a normal user, or set DB_URL.')
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid }
  return lookUp(ACCOUNT) ?? lookUp('postgres') ?? create()
}

function lookUp(name: string): Account | undefined {
  const id = (flag: string) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }))
  try {
    return { uid: id('-u'), gid: id('-g') }
  } catch {
    return undefined
  }
}

function create(): Account {
  try {
    execFileSync('useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', ACCOUNT], {
      stdio: 'ignore',
    })
  } catch {
    // Reported below, when the account is still not there; two starts at once may both have tried.
  }
  const account = lookUp(ACCOUNT)
  if (account) return account
  throw new UserError(
    `The embedded database cannot run as root: create a system user named ${ACCOUNT}, start as a normal user, or set DB_URL.`,
  )
}
