/**
 * The bare clone of a repository, kept in the data folder between runs.
 *
 * home     <data folder>/git/<hash of the repository's id>, used by one run at a time
 * clone    always complete if it exists: it is made as a draft in the same folder and then renamed
 * shape    the contents of the clone: files and commits or only commits, and since which moment
 */
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { FatalError, messageOf, RetryableError } from '../../errors.ts'
import { BrokenClone, explainFetch, explainReading } from '../../git/failure.ts'
import { GitError, type GitOptions, git, gitText } from '../../git/git.ts'
import { type Plugin, taskConfig } from '../../plugin-kit/index.ts'
import { type Access, openAccess } from './access.ts'
import type { GitTask } from './options.ts'

interface Shape {
  readonly hasBlobs: boolean
  /** Milliseconds. Null means all of the history. */
  readonly since: number | null
  readonly defaultBranch: string | null
  /** The clone is still as it was made, so that refs lead to everything in it, and it has no files. */
  readonly holdsOnlyCommits: boolean
}

type Wanted = Pick<Shape, 'hasBlobs' | 'since'>

export interface Clone extends Pick<Shape, 'defaultBranch' | 'holdsOnlyCommits'> {
  readonly folder: string
  /** Reads from the clone. If it throws a BrokenClone, the work starts again on a new clone. */
  git(parameters: readonly string[], options?: Partial<GitOptions>): Promise<void>
  gitText(parameters: readonly string[], options?: Partial<GitOptions>): Promise<string>
}

const ATTEMPTS = 3
const FIRST_PAUSE_MS = 500
const REFSPECS = ['+refs/heads/*:refs/heads/*', '+refs/tags/*:refs/tags/*']

export const homeOf = (repoId: string): string =>
  join(taskConfig().dataFolder, 'git', createHash('sha256').update(repoId).digest('hex').slice(0, 32))

/** The name of the lock. The run that holds it has exclusive use of the clone. */
export const lockOf = (repoId: string): string => `gitextractor ${repoId}`

/** Brings the clone up to date. */
export async function updateClone(task: GitTask, plugins: readonly Plugin[]): Promise<void> {
  await exclusively(task, (home) => update(task, plugins, home))
}

/** Reads the clone. A missing clone is made first, and a damaged one is made again, once. */
export function withClone<Result>(
  task: GitTask,
  plugins: readonly Plugin[],
  read: (clone: Clone) => Promise<Result>,
): Promise<Result> {
  return exclusively(task, async (home) => {
    const folder = join(home, 'clone.git')
    const shape = await readShape(folder)
    const usable = shape && fits(shape, task) ? shape : await update(task, plugins, home)
    try {
      return await read(openClone(task, folder, usable))
    } catch (error) {
      if (!(error instanceof BrokenClone)) throw error
      task.log?.(`The clone is damaged and is created again: ${error.message}`)
      return await read(openClone(task, folder, await makeAnew(task, plugins, home))).catch(stillBroken)
    }
  })
}

const stillBroken = (error: unknown): never => {
  throw error instanceof BrokenClone ? new FatalError(`Even a new clone cannot be read: ${error.message}`) : error
}

/** Only one run at a time works on a clone. Files that a killed run left behind are removed first. */
async function exclusively<Result>(task: GitTask, body: (home: string) => Promise<Result>): Promise<Result> {
  const home = homeOf(task.repoId)
  return task.database.locked(lockOf(task.repoId), async () => {
    task.signal.throwIfAborted()
    await mkdir(home, { recursive: true, mode: 0o700 })
    const left = (await readdir(home)).filter((name) => name !== 'clone.git')
    await Promise.all(left.map((name) => rm(join(home, name), { recursive: true, force: true })))
    return body(home)
  })
}

const reading = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error) => {
    throw explainReading(error)
  })

function openClone({ signal }: GitTask, folder: string, { defaultBranch, holdsOnlyCommits }: Shape): Clone {
  return {
    folder,
    defaultBranch,
    holdsOnlyCommits,
    git: (parameters, options) => reading(git(parameters, { folder, signal, ...options })),
    gitText: (parameters, options) => reading(gitText(parameters, { folder, signal, ...options })),
  }
}

const fits = (shape: Shape, { withStats, isShallow, since }: GitTask): boolean =>
  (shape.hasBlobs || !withStats) &&
  (shape.since === null || (isShallow && since !== null && shape.since <= since.getTime()))

async function update(task: GitTask, plugins: readonly Plugin[], home: string): Promise<Shape> {
  const folder = join(home, 'clone.git')
  const shape = await readShape(folder)
  if (!shape || !fits(shape, task)) return makeAnew(task, plugins, home)
  await removeLocks(folder)
  try {
    return await download(task, plugins, home, folder, shape)
  } catch (error) {
    if (!(error instanceof BrokenClone)) throw error
    task.log?.(`The clone is damaged and is created again: ${error.message}`)
    return makeAnew(task, plugins, home)
  }
}

async function makeAnew(task: GitTask, plugins: readonly Plugin[], home: string): Promise<Shape> {
  const draft = await mkdtemp(join(home, 'draft-'))
  const { signal, withStats, isShallow, since } = task
  try {
    await git(['init', '--quiet', '--bare', '--template=', '--object-format=sha1', draft], { signal })
    const wanted = { hasBlobs: withStats, since: (isShallow && since?.getTime()) || null }
    const made = await download(task, plugins, home, draft, wanted).catch(stillBroken)
    const isComplete = !withStats && made.since === null
    const shape = { ...made, holdsOnlyCommits: isComplete && (await lacksTrees(draft, signal)) }
    await writeShape(draft, shape)
    const folder = join(home, 'clone.git')
    await rename(folder, join(home, 'replaced')).catch(() => {})
    await rename(draft, folder)
    return shape
  } finally {
    await rm(draft, { recursive: true, force: true })
    await rm(join(home, 'replaced'), { recursive: true, force: true })
  }
}

/** Fetches new commits, and tries again after interruptions. */
async function download(
  task: GitTask,
  plugins: readonly Plugin[],
  home: string,
  folder: string,
  wanted: Wanted,
): Promise<Shape> {
  const { url, signal } = task
  const access = await openAccess(task, plugins, home)
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await downloadOnce(task, access, folder, wanted)
      } catch (error) {
        const meaning = explainFetch(error, url, access.secrets)
        if (!(meaning instanceof RetryableError) || attempt === ATTEMPTS) throw meaning
        task.log?.(`${messageOf(meaning)} Trying again.`)
        await sleep(FIRST_PAUSE_MS * 2 ** attempt, undefined, { signal })
      }
    }
  } finally {
    await access.close()
  }
}

async function downloadOnce(
  task: GitTask,
  { environment, url }: Access,
  folder: string,
  wanted: Wanted,
): Promise<Shape> {
  const { signal } = task
  const remote = { folder, signal, environment }
  await reading(git(['config', 'remote.origin.url', url], { folder, signal }))
  const heads = await gitText(['ls-remote', '--symref', 'origin', 'HEAD'], remote)
  const defaultBranch = /^ref: refs\/heads\/(\S+)\tHEAD$/m.exec(heads)?.[1] ?? null

  const fetchRefs = (...depth: string[]) =>
    git(
      [
        'fetch',
        '--progress',
        '--prune',
        '--no-tags',
        '--no-write-fetch-head',
        ...(wanted.hasBlobs ? [] : ['--filter=tree:0']),
        ...depth,
        'origin',
        ...REFSPECS,
      ],
      { ...remote, onErrorText: progressReader(task) },
    )
  const since = wanted.since === null ? null : await fetchSince(fetchRefs, wanted.since)
  if (since === null) await fetchRefs()
  const shape = { hasBlobs: wanted.hasBlobs, since, defaultBranch, holdsOnlyCommits: false }
  await writeShape(folder, shape)
  return shape
}

/** Tells whether trees are really missing, because some servers cannot leave them out. */
async function lacksTrees(folder: string, signal: AbortSignal): Promise<boolean> {
  const tip = await gitText(['rev-list', '--no-walk', '--max-count=1', '--all'], { folder, signal })
  if (tip === '') return true
  const told = ['rev-list', '--no-walk', '--objects', '--filter=tree:1', '--missing=print', tip.trim()]
  return (await gitText(told, { folder, signal })).includes('\n?')
}

/** Returns null if the server cannot cut a history by date. */
async function fetchSince(fetchRefs: (...depth: string[]) => Promise<void>, since: number): Promise<number | null> {
  const failedWith = (pattern: RegExp) => (error: unknown) => {
    if (error instanceof GitError && pattern.test(error.output)) return 'failed' as const
    throw error
  }
  try {
    const fetched = await fetchRefs(`--shallow-since=${new Date(since).toISOString()}`).catch(
      // No commit is that recent, so the tips are enough.
      failedWith(/no commits selected for shallow|error processing shallow info/),
    )
    if (fetched === 'failed') await fetchRefs('--depth=1')
    // Fetches the parents of the oldest commits too. Without them, the changes of these commits would be unknown.
    else await fetchRefs('--deepen=1')
    return since
  } catch (error) {
    failedWith(/does not support (--)?shallow/)(error)
    return null
  }
}

function progressReader({ progress }: GitTask): (text: string) => void {
  return (text) => {
    const [, done, expected] = /Receiving objects:\s+\d+% \((\d+)\/(\d+)\)/.exec(text) ?? []
    if (done) progress({ done: Number(done), expected: Number(expected) })
  }
}

async function writeShape(folder: string, shape: Shape): Promise<void> {
  await writeFile(join(folder, 'weir.json.new'), JSON.stringify(shape))
  await rename(join(folder, 'weir.json.new'), join(folder, 'weir.json'))
}

async function readShape(folder: string): Promise<Shape | null> {
  try {
    const shape = JSON.parse(await readFile(join(folder, 'weir.json'), 'utf8'))
    return typeof shape?.hasBlobs === 'boolean' ? shape : null
  } catch {
    return null
  }
}

/** A killed git leaves its lock files. They can be removed, because our own lock protects the whole clone. */
async function removeLocks(folder: string): Promise<void> {
  const names = await Promise.all([readdir(folder), readdir(join(folder, 'refs'), { recursive: true }).catch(() => [])])
  const locks = [...names[0], ...names[1].map((name) => join('refs', name))].filter((name) => name.endsWith('.lock'))
  await Promise.all(locks.map((name) => rm(join(folder, name), { force: true })))
}
