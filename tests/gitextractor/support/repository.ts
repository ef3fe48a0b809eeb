/** Real repositories in a temporary folder, written with git itself. The user's git settings have no influence. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { atEnd } from '../../support/at-end.ts'

const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  LC_ALL: 'C',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_COMMITTER_NAME: 'Carl',
  GIT_COMMITTER_EMAIL: 'carl@example.com',
}

export interface Repository {
  readonly folder: string
  /** Returns the output of a git command without trailing white space. */
  git(
    parameters: readonly string[],
    options?: { input?: string | Buffer; environment?: Record<string, string> },
  ): string
  write(path: string, text: string | Buffer): void
  /** Commits everything in the folder at a time in seconds. Returns the sha. */
  commit(message: string, seconds?: number): string
  /** Stores a commit object byte by byte, in forms that no command would write. */
  commitRaw(headers: string | Buffer, message: string | Buffer, parents?: readonly string[]): string
}

export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'weir-git-'))
  atEnd(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

let clock = 1_700_000_000

export function makeRepository(folder = join(temporaryFolder(), 'origin')): Repository {
  const git: Repository['git'] = (parameters, { input = '', environment = {} } = {}) => {
    const { status, stdout, stderr } = spawnSync('git', ['-C', folder, ...parameters], {
      env: { ...ENVIRONMENT, ...environment },
      input,
      maxBuffer: 1 << 28,
    })
    if (status !== 0) throw new Error(`git ${parameters.join(' ')}: ${stderr}`)
    return stdout.toString().trimEnd()
  }
  mkdirSync(folder, { recursive: true })
  git(['init', '--quiet', '--initial-branch=main'])
  git(['config', 'uploadpack.allowFilter', 'true'])
  git(['config', 'uploadpack.allowAnySHA1InWant', 'true'])
  git(['config', 'http.receivepack', 'false'])
  return {
    folder,
    git,
    write(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
    commit(message, seconds = ++clock) {
      git(['add', '--all'])
      const moment = `${seconds} +0000`
      git(['commit', '--quiet', '--allow-empty', '--allow-empty-message', '--file=-'], {
        input: message,
        environment: { GIT_AUTHOR_DATE: moment, GIT_COMMITTER_DATE: moment },
      })
      return git(['rev-parse', 'HEAD'])
    },
    commitRaw(headers, message, parents = [git(['rev-parse', 'HEAD'])]) {
      const tree = git(['rev-parse', 'HEAD^{tree}'])
      const start = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), ''].join('\n')
      const input = Buffer.concat([start, headers, '\n\n', message].map((part) => Buffer.from(part)))
      const sha = git(['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], { input })
      git(['update-ref', 'HEAD', sha])
      return sha
    },
  }
}

export interface ToldCommit {
  parents: string[]
  additions: number
  deletions: number
  files: number
}

/** Returns what plain `git log --numstat` prints about every commit, read line by line. */
export function toldBy(repository: Repository, ...revisions: string[]): Map<string, ToldCommit> {
  const text = repository.git([
    'log',
    '--numstat',
    '--diff-merges=first-parent',
    '--format=commit %H|%P',
    ...(revisions.length > 0 ? revisions : ['--all']),
  ])
  const told = new Map<string, ToldCommit>()
  let current: ToldCommit | undefined
  for (const line of text.split('\n')) {
    const [, sha, parents = ''] = /^commit (\w+)\|(.*)$/.exec(line) ?? []
    if (sha) {
      current = { parents: parents.split(' ').filter(Boolean).sort(), additions: 0, deletions: 0, files: 0 }
      told.set(sha, current)
    }
    const [, added, deleted] = /^(\d+|-)\t(\d+|-)\t/.exec(line) ?? []
    if (!added || !current) continue
    current.files++
    current.additions += Number(added) || 0
    current.deletions += Number(deleted) || 0
  }
  return told
}
