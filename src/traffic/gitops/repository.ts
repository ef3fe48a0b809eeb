/** A repository that other tools follow. It is read and added to without a working copy. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readConfig } from '../../config/config.ts'
import { UserError } from '../../errors.ts'
import { git, gitText, LOCAL, settings } from '../../git/git.ts'
import { curlPin, openAddresses } from '../../plugin-kit/http/index.ts'
import { explainFailure } from './push-failure.ts'

/** Files of one commit. */
export interface Tree {
  readonly commit: string
  read(path: string): Promise<string | undefined>
  /** Files of a folder and of its subfolders. */
  list(folder: string): Promise<readonly string[]>
}

/** The new text of each file; null removes the file. */
export type Changes = ReadonlyMap<string, string | null>

/** A commit as it would be with changes that are not written yet. */
export const withChanges = (tree: Tree, changes: Changes): Tree => ({
  commit: tree.commit,
  read: async (path) => (changes.has(path) ? (changes.get(path) ?? undefined) : tree.read(path)),
  async list(folder) {
    const added = [...changes.keys()].filter((path) => path.startsWith(`${folder}/`))
    const paths = [...new Set([...(await tree.list(folder)), ...added])]
    return paths.filter((path) => changes.get(path) !== null).toSorted()
  },
})

interface Author {
  readonly name: string
  readonly email: string
}

export interface Repository {
  readonly url: string
  /** The newest commit of a branch, fetched; undefined if there is no such branch. */
  head(branch: string): Promise<string | undefined>
  tree(commit: string): Tree
  /** Message and parents. */
  describe(commit: string): Promise<{ readonly message: string; readonly parents: readonly string[] }>
  /** The ids of files, as `id path`. */
  fileIds(commit: string, paths: readonly string[]): Promise<readonly string[]>
  commit(parent: string, changes: Changes, message: string, author: Author): Promise<string>
  /** Pushes on top of what is there; refused if the branch has moved. */
  push(commit: string, branch: string): Promise<void>
  /** Replaces what is there, as long as it is `expected`; without a commit, removes the branch. */
  replace(commit: string | undefined, branch: string, expected: string | undefined): Promise<void>
  /** Runs one piece of work after the other, because there is one copy on disk. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
}

/** A server that says nothing for this long is asked again later. */
const TIMEOUT_MS = 30_000
/** Programs that tidy up temporary folders remove what nobody has read for days. So a copy that was not used for this long is made again. */
const KEPT_MS = 3_600_000
const MOST_FILES = 5_000
const NO_BLOB = '0'.repeat(40)

const opened = new Map<string, Repository>()
const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Shared by everything in this process, so that it is fetched once. */
export function openRepository(url: string): Repository {
  const known = opened.get(url)
  if (known !== undefined) return known
  const made = makeRepository(url)
  opened.set(url, made)
  return made
}

const isHttp = (url: string): boolean => /^https?:/i.test(url)
/** The spelling that was checked, because git may read another one as another host. */
const spelled = (url: string): string => (isHttp(url) ? new URL(url).href : url)
const isLocal = (url: string): boolean => url.startsWith('/') || url.startsWith('file:')

/** Git finds its credentials as it does for the user who runs Weir; nothing but those and the address is passed on. */
async function remoteEnvironment(url: string): Promise<Record<string, string>> {
  const { gitAllowLocal } = readConfig(process.env)
  if (isLocal(url) && !gitAllowLocal)
    throw new UserError(`gitops.repository ${url} is a folder of this machine: set GIT_ALLOW_LOCAL=true to allow it.`)
  const host = isLocal(url) ? undefined : (URL.parse(url)?.hostname ?? /@([\w.-]+):/.exec(url)?.[1])
  if (host) await openAddresses(host)
  // Git would look the name up again, and might get another answer.
  const pin = isHttp(url) ? await curlPin(url) : undefined
  const pairs: [string, string][] = [
    // Neither settings nor hooks of the user must decide what is pushed: see --no-verify.
    ['push.followTags', 'false'],
    ['push.recurseSubmodules', 'no'],
    ['fetch.recurseSubmodules', 'false'],
    ['http.followRedirects', 'false'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
    ...(pin === undefined ? [] : [['http.curloptResolve', pin] as [string, string]]),
  ]
  return { ...settings(pairs), GIT_ALLOW_PROTOCOL: gitAllowLocal ? 'https:http:ssh:file' : 'https:http:ssh' }
}

function makeRepository(url: string): Repository {
  const address = spelled(url)
  let folder: Promise<string> | undefined
  let last: Promise<unknown> = Promise.resolve()
  /** Commits that are here and need not be fetched. */
  const here = new Set<string>()
  let place = ''
  let usedAt = 0
  const open = (): Promise<string> => {
    if (place !== '' && (Date.now() - usedAt > KEPT_MS || !existsSync(join(place, 'HEAD')))) {
      rmSync(place, { recursive: true, force: true })
      here.clear()
      place = ''
      folder = undefined
    }
    usedAt = Date.now()
    folder ??= (async () => {
      const made = mkdtempSync(join(tmpdir(), 'weir-gitops-'))
      folders.push(made)
      await git(['init', '--quiet', '--bare', '--template=', made], { signal: AbortSignal.timeout(TIMEOUT_MS) })
      place = made
      return made
    })()
    folder.catch(() => {
      folder = undefined
    })
    return folder
  }
  const local = async (parameters: readonly string[], more: { input?: string; index?: string; author?: Author } = {}) =>
    gitText(parameters, {
      folder: await open(),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(more.input === undefined ? {} : { input: more.input }),
      environment: {
        ...LOCAL,
        ...(more.index === undefined ? {} : { GIT_INDEX_FILE: more.index }),
        ...(more.author === undefined ? {} : namesOf(more.author)),
      },
    })
  const remote = async (what: string, parameters: readonly string[]): Promise<string> => {
    const own = await open()
    const environment = await remoteEnvironment(address)
    try {
      return await gitText(parameters, { folder: own, signal: AbortSignal.timeout(TIMEOUT_MS), environment })
    } catch (error) {
      throw explainFailure(error, what, url)
    }
  }

  return {
    url,
    async head(branch) {
      const listed = await remote(`read branch ${branch}`, ['ls-remote', address, `refs/heads/${branch}`])
      const found = listed.split('\t')[0]!.trim()
      if (found === '' || here.has(found)) return found || undefined
      const kept = `refs/weir/${branch}`
      await remote(`read branch ${branch}`, [
        'fetch',
        '--quiet',
        '--depth=1',
        '--no-tags',
        '--no-write-fetch-head',
        address,
        `+refs/heads/${branch}:${kept}`,
      ])
      // The branch may have moved since it was listed.
      const fetched = (await local(['rev-parse', '--verify', kept])).trim()
      here.add(fetched)
      return fetched
    },
    tree: (commit) => ({
      commit,
      async read(path) {
        const answer = await local(['cat-file', '--batch'], { input: `${commit}:${path}\n` })
        const end = answer.indexOf('\n')
        return / blob \d+$/.test(answer.slice(0, end)) ? answer.slice(end + 1, -1) : undefined
      },
      async list(folderPath) {
        const names = await local(['ls-tree', '-r', '-z', '--name-only', commit, '--', `${folderPath}/`])
        return names.split('\0').filter(Boolean).slice(0, MOST_FILES)
      },
    }),
    async describe(commit) {
      const text = await local(['cat-file', 'commit', commit])
      const end = text.indexOf('\n\n')
      const parents = [...text.slice(0, end).matchAll(/^parent ([0-9a-f]+)$/gm)].map(([, id]) => id!)
      return { message: text.slice(end + 2), parents }
    },
    async fileIds(commit, paths) {
      const lines = await local(['ls-tree', '-z', commit, '--', ...paths])
      return lines
        .split('\0')
        .filter(Boolean)
        .map((line) => line.slice(line.indexOf(' ', line.indexOf(' ') + 1) + 1).replace('\t', ' '))
    },
    async commit(parent, changes, message, author) {
      const index = join(await open(), `index-${process.hrtime.bigint()}`)
      try {
        await local(['read-tree', parent], { index })
        const modes = new Map(
          (await local(['ls-tree', '-z', parent, '--', ...changes.keys()]))
            .split('\0')
            .map((line) => [line.slice(line.indexOf('\t') + 1), line.slice(0, 6)]),
        )
        const entries: string[] = []
        for (const [path, text] of changes) {
          const blob = text === null ? NO_BLOB : (await local(['hash-object', '-w', '--stdin'], { input: text })).trim()
          entries.push(`${text === null ? '0' : (modes.get(path) ?? '100644')} ${blob}\t${path}\0`)
        }
        await local(['update-index', '-z', '--index-info'], { index, input: entries.join('') })
        const tree = (await local(['write-tree'], { index })).trim()
        const made = (await local(['commit-tree', tree, '-p', parent], { input: message, author })).trim()
        here.add(made)
        return made
      } finally {
        rmSync(index, { force: true })
      }
    },
    async push(commit, branch) {
      await remote(`push to branch ${branch}`, [
        'push',
        '--quiet',
        '--no-verify',
        address,
        `${commit}:refs/heads/${branch}`,
      ])
    },
    async replace(commit, branch, expected) {
      const lease = `--force-with-lease=refs/heads/${branch}:${expected ?? ''}`
      await remote(`push to branch ${branch}`, [
        'push',
        '--quiet',
        '--no-verify',
        lease,
        address,
        `${commit ?? ''}:refs/heads/${branch}`,
      ])
    },
    alone(work) {
      const next = last.then(work, work)
      last = next.catch(() => undefined)
      return next
    },
  }
}

const namesOf = ({ name, email }: Author): Record<string, string> => ({
  GIT_AUTHOR_NAME: name,
  GIT_AUTHOR_EMAIL: email,
  GIT_COMMITTER_NAME: name,
  GIT_COMMITTER_EMAIL: email,
})
