/** Makes table rows of commits. */
import { hash } from 'node:crypto'
import type { TableRow } from '../../database/table.ts'
import { commitFileComponents, commitFiles, commitParents, commits, repoCommits } from '../../domain/code.ts'
import { accounts } from '../../domain/people.ts'
import { type MarkedRows, rowShape } from '../../plugin-kit/index.ts'
import { type Commit, dateOf, type Person } from './commit-parser.ts'

interface ChangedFile {
  readonly sha: string
  readonly id: string
  readonly path: string
  readonly additions: number
  readonly deletions: number
  readonly component: string
}

/** A commit with the sums over its files. The files themselves are kept only if they are wanted. */
export interface CountedCommit {
  readonly commit: Commit
  additions: number
  deletions: number
  files: ChangedFile[] | null
}

/** Makes an id from the bytes of a path, because different paths may have the same text. */
export const fileId = (sha: string, path: Uint8Array): string => `${sha}:${hash('sha256', path)}`

const LONGEST_ACCOUNT_ID = 255
/** The id of an account is its e-mail address. Commits without an address have no account. */
export const accountId = ({ email }: Person): string => email.slice(0, LONGEST_ACCOUNT_ID)

export const accountRow = (person: Person): TableRow =>
  accounts.row({ id: accountId(person), email: person.email, full_name: person.name, user_name: person.name })

/** A commit may name the same parent twice. */
const distinct = (parents: readonly string[]) => (parents.length < 2 ? parents : [...new Set(parents)].sort())

interface CommitTables {
  /** Adds a commit and returns its number of rows. Commits must come in the order of their shas, which is first in the keys of these tables. */
  add(commit: CountedCommit): number
  /** Writes the rows that were added so far. */
  send(): Promise<void>[]
}

export function openCommitTables(marked: MarkedRows, repoId: string): CommitTables {
  const tables = {
    commits: marked.gather(
      rowShape({
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
        valuesOf: ({ commit, additions, deletions }: CountedCommit) => [
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
    ),
    repoCommits: marked.gather(
      rowShape({
        table: repoCommits,
        names: ['commit_sha'],
        shared: { repo_id: repoId },
        valuesOf: ({ sha }: Commit) => [sha],
      }),
    ),
    parents: marked.gather(
      rowShape({
        table: commitParents,
        names: ['commit_sha', 'parent_commit_sha'],
        shared: {},
        valuesOf: ({ sha, parent }: { sha: string; parent: string }) => [sha, parent],
      }),
    ),
    files: marked.gather(
      rowShape({
        table: commitFiles,
        names: ['id', 'commit_sha', 'file_path', 'additions', 'deletions'],
        shared: {},
        valuesOf: ({ id, sha, path, additions, deletions }: ChangedFile) => [id, sha, path, additions, deletions],
      }),
    ),
    components: marked.gather(
      rowShape({
        table: commitFileComponents,
        names: ['commit_file_id', 'component_name'],
        shared: {},
        valuesOf: ({ id, component }: ChangedFile) => [id, component],
      }),
    ),
  }
  return {
    add(counted) {
      const { commit, files } = counted
      tables.commits.add(counted)
      tables.repoCommits.add(commit)
      const parents = distinct(commit.parents)
      for (const parent of parents) tables.parents.add({ sha: commit.sha, parent })
      for (const file of files?.sort((one, other) => (one.id < other.id ? -1 : 1)) ?? []) {
        tables.files.add(file)
        tables.components.add(file)
      }
      return 2 + parents.length + 2 * (files?.length ?? 0)
    },
    send: () => Object.values(tables).map(({ send }) => send()),
  }
}
