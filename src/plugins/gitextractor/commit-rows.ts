/** Which rows commits become. */
import { hash } from 'node:crypto'
import type { TableRow } from '../../database/table.ts'
import { commitFileComponents, commitFiles, commitParents, commits, repoCommits } from '../../domain/code.ts'
import { accounts } from '../../domain/people.ts'
import { type Listed, listed } from '../../plugin-kit/rows.ts'
import { type Commit, dateOf, type Person } from './commit-log.ts'

export interface ChangedFile {
  readonly sha: string
  readonly id: string
  readonly path: string
  readonly additions: number
  readonly deletions: number
  readonly component: string
}

/** A commit with what its files add up to; the files themselves only where they are wanted. */
export interface CountedCommit {
  readonly commit: Commit
  additions: number
  deletions: number
  files: ChangedFile[] | null
}

/** Of the bytes of a path, since two paths may read alike. */
export const fileId = (sha: string, path: Uint8Array): string => `${sha}:${hash('sha256', path)}`

const LONGEST_ACCOUNT_ID = 255
/** Addresses are ids; commits without one have no account. */
export const accountId = ({ email }: Person): string => email.slice(0, LONGEST_ACCOUNT_ID)

export const accountRow = (person: Person): TableRow =>
  accounts.row({ id: accountId(person), email: person.email, full_name: person.name, user_name: person.name })

/** A history may name a parent twice. */
const distinct = (parents: readonly string[]) => (parents.length < 2 ? parents : [...new Set(parents)].sort())

/** In the order of their shas, which leads the keys of all these tables. */
export function listsOf(repoId: string, batch: CountedCommit[]): Listed[] {
  const items = batch.sort((one, other) => (one.commit.sha < other.commit.sha ? -1 : 1))
  const files = items.flatMap((item) => item.files?.sort((one, other) => (one.id < other.id ? -1 : 1)) ?? [])
  return [
    listed({
      table: commits,
      names: [
        'sha',
        'additions',
        'deletions',
        'message',
        'author_name',
        'author_email',
        'authored_date',
        'author_id',
        'committer_name',
        'committer_email',
        'committed_date',
        'committer_id',
      ],
      shared: {},
      items,
      valuesOf: ({ commit, additions, deletions }) => [
        commit.sha,
        additions,
        deletions,
        commit.message,
        commit.author.name,
        commit.author.email,
        dateOf(commit.authoredAt),
        accountId(commit.author),
        commit.committer.name,
        commit.committer.email,
        dateOf(commit.committedAt),
        accountId(commit.committer),
      ],
    }),
    listed({
      table: repoCommits,
      names: ['commit_sha'],
      shared: { repo_id: repoId },
      items,
      valuesOf: ({ commit }) => [commit.sha],
    }),
    listed({
      table: commitParents,
      names: ['commit_sha', 'parent_commit_sha'],
      shared: {},
      items: items.flatMap(({ commit: { sha, parents } }) => distinct(parents).map((parent) => ({ sha, parent }))),
      valuesOf: ({ sha, parent }) => [sha, parent],
    }),
    listed({
      table: commitFiles,
      names: ['id', 'commit_sha', 'file_path', 'additions', 'deletions'],
      shared: {},
      items: files,
      valuesOf: ({ id, sha, path, additions, deletions }) => [id, sha, path, additions, deletions],
    }),
    listed({
      table: commitFileComponents,
      names: ['commit_file_id', 'component_name'],
      shared: {},
      items: files,
      valuesOf: ({ id, component }) => [id, component],
    }),
  ]
}
