import { hash } from 'node:crypto'
import type { TableRow } from '../../database/table.ts'
import { commitFileComponents, commitFiles, commitParents, commits, repoCommits } from '../../domain/code.ts'
import { accounts } from '../../domain/people.ts'
import type { Commit, Ident } from './commit-log.ts'
import type { Components } from './components.ts'
import type { GitTask } from './options.ts'

export interface CommitRows {
  /** Ends the commit before; null: the files that follow do not count. */
  begin(commit: Commit | null): void
  /** A file that the commit begun last has changed. */
  file(additions: number, deletions: number, path: string, bytes: Uint8Array): void
}

const LONGEST_ACCOUNT_ID = 255

/** Turns commits and their files into rows; `components` only where files are wanted. */
export function commitRows(
  { repoId, excluded }: GitTask,
  components: Components | null,
  add: (row: TableRow, characters?: number) => void,
): CommitRows {
  const known = new Set<string>()
  let current: Commit | null = null
  let additions = 0
  let deletions = 0

  /** Addresses are ids; commits without one have no account. */
  function accountOf({ name, email }: Ident): string {
    const id = email.slice(0, LONGEST_ACCOUNT_ID)
    if (id !== '' && !known.has(id)) {
      known.add(id)
      add(accounts.row({ id, email, full_name: name, user_name: name }))
    }
    return id
  }

  function finish({ sha, parents, author, committer, message }: Commit): void {
    add(repoCommits.row({ repo_id: repoId, commit_sha: sha }))
    for (const parent of new Set(parents)) add(commitParents.row({ commit_sha: sha, parent_commit_sha: parent }))
    add(
      commits.row({
        sha,
        additions,
        deletions,
        message,
        author_name: author.name,
        author_email: author.email,
        authored_date: author.date,
        author_id: accountOf(author),
        committer_name: committer.name,
        committer_email: committer.email,
        committed_date: committer.date,
        committer_id: accountOf(committer),
      }),
      message.length,
    )
  }

  return {
    begin(commit) {
      if (current) finish(current)
      current = commit
      additions = 0
      deletions = 0
    },
    file(added, deleted, path, bytes) {
      if (!current) return
      if (excluded.length > 0) {
        const lower = path.toLowerCase()
        if (excluded.some((ending) => lower.endsWith(ending))) return
      }
      additions += added
      deletions += deleted
      if (!components) return
      // Of the bytes, since two paths may read alike.
      const id = `${current.sha}:${hash('sha256', bytes)}`
      add(
        commitFiles.row({ id, commit_sha: current.sha, file_path: path, additions: added, deletions: deleted }),
        path.length,
      )
      add(commitFileComponents.row({ commit_file_id: id, component_name: components.of(path) }))
    },
  }
}
