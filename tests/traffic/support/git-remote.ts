import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, posix } from 'node:path'
import { parse, parseAllDocuments } from 'yaml'
import { type FakeCluster, jsonPatch } from '../../fake-kubernetes/fake-kubernetes.ts'

type Files = ReadonlyMap<string, string>
/** Builds the objects of a cluster from the files of its branch, as the cluster's GitOps tool does. */
export type Build = (files: Files) => readonly any[]

export interface GitRemote {
  readonly url: string
  /** Commits on top of a branch, as a person would. `null` removes a file. */
  commit(branch: string, files: Readonly<Record<string, string | null>>, message?: string): string
  /** Merges a branch as a single new commit, as a person would. */
  squash(from: string, into: string): void
  subjects(branch: string): readonly string[]
  head(branch: string): string | undefined
  files(branch: string): Files
  /** Runs git in the repository of the server. */
  git(...parameters: readonly string[]): string
  close(): void
}

/** A bare repository in a folder, as on a server. */
export function startGitRemote(files: Readonly<Record<string, string>>): GitRemote {
  const url = mkdtempSync(join(tmpdir(), 'weir-remote-'))
  const environment = {
    PATH: process.env.PATH,
    HOME: url,
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@example.com',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@example.com',
  }
  const run = (parameters: readonly string[], input = '', more = {}): string =>
    execFileSync('git', [`--git-dir=${url}`, ...parameters], {
      input,
      env: { ...environment, ...more },
      encoding: 'utf8',
      stdio: ['pipe', 'pipe', 'ignore'],
    })
  execFileSync('git', ['init', '--quiet', '--bare', '--initial-branch=main', url], { env: environment })
  const read = new Map<string, Files>()
  const remote: GitRemote = {
    url,
    git: (...parameters) => run(parameters),
    // Reads the file directly instead of starting a process, because it is called all the time.
    head(branch) {
      try {
        return readFileSync(join(url, 'refs/heads', branch), 'utf8').trim()
      } catch {
        return undefined
      }
    },
    subjects: (branch) => run(['log', '--format=%s', branch]).trim().split('\n'),
    // Two processes read all files of a commit. Files that were read before need none, because reconcilers ask all the time.
    files(branch) {
      const head = remote.head(branch) ?? branch
      const files = read.get(head) ?? readFiles(head, run)
      read.set(head, files)
      return files
    },
    commit(branch, changes, message = 'by hand') {
      const parent = remote.head(branch)
      const from = parent === undefined ? '' : `from ${parent}\n`
      const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
      const lines = Object.entries(changes).map(([path, text]) =>
        text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${data(text)}`,
      )
      const head = `commit refs/heads/${branch}\ncommitter Ada <ada@example.com> now\n${data(message)}${from}`
      run(['fast-import', '--quiet', '--force', '--date-format=now'], `${head}${lines.join('')}\n`)
      return remote.head(branch) as string
    },
    squash(from, into) {
      const [subject = ''] = remote.subjects(from)
      const made = run(['commit-tree', `${from}^{tree}`, '-p', into], `${subject} (#1)`).trim()
      run(['update-ref', `refs/heads/${into}`, made])
    },
    close: () => rmSync(url, { recursive: true, force: true }),
  }
  remote.commit('main', files, 'as it was')
  return remote
}

function readFiles(commit: string, run: (parameters: readonly string[], input?: string) => string): Files {
  const paths = run(['ls-tree', '-r', '--name-only', commit]).split('\n').filter(Boolean)
  const batch = Buffer.from(run(['cat-file', '--batch'], paths.map((path) => `${commit}:${path}\n`).join('')))
  let offset = 0
  return new Map(
    paths.map((path) => {
      // Each file is a line "ID blob SIZE", the text, and a line feed.
      const start = batch.indexOf('\n', offset) + 1
      const end = start + Number(batch.toString('utf8', offset, start).split(' ')[2])
      offset = end + 1
      return [path, batch.toString('utf8', start, end)]
    }),
  )
}

/** Applies a branch to a cluster and removes objects that it no longer contains, as Argo CD and Flux do. */
export function startReconciler(remote: GitRemote, branch: string, cluster: FakeCluster, build: Build) {
  let applied = ''
  let known = new Map<string, any>()
  const reconciler = {
    isPaused: false,
    reconcile() {
      const head = remote.head(branch)
      if (head === undefined || head === applied || reconciler.isPaused) return
      applied = head
      const wanted = new Map(
        build(remote.files(branch)).map((object) => [`${object.kind}/${object.metadata.name}`, object]),
      )
      for (const object of wanted.values()) {
        const live = cluster.get(object.kind, object.metadata.namespace, object.metadata.name)
        const { finalizers, deletionTimestamp: _gone, ...metadata } = live?.metadata ?? {}
        const next = structuredClone(object)
        next.metadata = {
          ...metadata,
          ...next.metadata,
          ...(finalizers === undefined ? {} : { finalizers }),
        }
        if (live?.status !== undefined) next.status = live.status
        if (
          JSON.stringify([live?.spec, live?.metadata.annotations]) ===
          JSON.stringify([next.spec, next.metadata.annotations])
        )
          continue
        cluster.seed(next, 'argocd')
      }
      for (const [key, object] of known)
        if (!wanted.has(key))
          cluster.update(object, (gone) => (gone.metadata.deletionTimestamp ??= new Date().toISOString()))
      known = wanted
    },
    stop: () => clearInterval(timer),
  }
  const timer = setInterval(() => reconciler.reconcile(), 15)
  reconciler.reconcile()
  return reconciler
}

const objectsIn = (text: string): readonly any[] =>
  parseAllDocuments(text).flatMap((document) => (document.toJS() === null ? [] : [document.toJS()]))

export const manifestsBelow =
  (folder: string): Build =>
  (files) =>
    [...files]
      .filter(([path]) => path.startsWith(`${folder}/`) && path.endsWith('.yaml'))
      .flatMap(([, text]) => objectsIn(text))

/** Resources and JSON patches, as `kustomize build` would combine them from this folder. */
export const kustomized =
  (folder: string): Build =>
  (files) => {
    const text = (path: string) => files.get(posix.join(folder, path))!
    const { resources, patches = [] } = parse(text('kustomization.yaml'))
    const objects: any[] = resources.flatMap((path: string) =>
      files.has(posix.join(folder, path, 'kustomization.yaml'))
        ? kustomized(posix.join(folder, path))(files)
        : objectsIn(text(path)),
    )
    for (const { path, target } of patches) {
      const index = objects.findIndex(({ kind, metadata }) => kind === target.kind && metadata.name === target.name)
      objects[index] = jsonPatch(objects[index], parse(text(path)))
    }
    return objects
  }
