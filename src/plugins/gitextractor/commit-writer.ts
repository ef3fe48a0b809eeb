import type { MarkedRows } from '../../plugin-kit/index.ts'
import type { LogVisitor } from './commit-log.ts'
import type { Commit, Person } from './commit-parser.ts'
import { accountId, accountRow, type CountedCommit, fileId, openCommitTables } from './commit-rows.ts'
import type { Components } from './components.ts'
import type { GitTask } from './options.ts'

interface CommitWriter {
  /** Begins a commit, to which the files that follow belong. With null, those files are ignored. */
  begin(commit: Commit | null): void
  readonly file: LogVisitor['file']
  /** Starts to write if a batch is complete. It waits only while the two batches before are being written. */
  send(): Promise<void>
  /** Writes the rest and waits until everything is written. */
  finish(): Promise<void>
  /** Waits for writes that have started, whether they succeed or fail. */
  idle(): Promise<void>
  /** The number of rows written. */
  count(): number
}

interface Wanted {
  /** Null if files are not wanted. */
  readonly components: Components | null
  /** Commits come in the order of their shas and without files. */
  readonly isSorted: boolean
}

/** A large batch in the order of its keys needs fewer searches of the index. */
const BATCH = 10_000
const BATCH_CHARACTERS = 8 << 20

/** Gathers a batch of commits while the batches before are being written. */
export function commitWriter(
  { repoId, excluded }: GitTask,
  { components, isSorted }: Wanted,
  marked: MarkedRows,
): CommitWriter {
  const tables = openCommitTables(marked, repoId)
  const people = newestPeople()
  /** The current commit, whose files may still follow. */
  let current: CountedCommit | null = null
  let unsorted: CountedCommit[] = []
  let held = 0
  let heldCharacters = 0
  let underWay: Promise<unknown>[] = []
  let count = 0

  function hold(commit: CountedCommit): void {
    if (isSorted) count += tables.add(commit)
    else unsorted.push(commit)
  }

  async function write(): Promise<void> {
    if (underWay.length > 1) await underWay.shift()
    for (const commit of unsorted.sort((one, other) => (one.commit.sha < other.commit.sha ? -1 : 1))) {
      count += tables.add(commit)
    }
    unsorted = []
    held = 0
    heldCharacters = 0
    const writing = Promise.all(tables.send())
    // It is awaited later. Until then, a rejection must not count as unhandled.
    writing.catch(() => {})
    underWay.push(writing)
  }

  return {
    begin(commit) {
      if (current) hold(current)
      current = commit && { commit, additions: 0, deletions: 0, files: components && [] }
      if (!commit) return
      people.see(commit)
      held++
      heldCharacters += commit.message.length
    },
    file(additions, deletions, path, bytes) {
      if (!current) return
      if (excluded.length > 0) {
        const lower = path.toLowerCase()
        if (excluded.some((ending) => lower.endsWith(ending))) return
      }
      current.additions += additions
      current.deletions += deletions
      if (!components) return
      const { sha } = current.commit
      const component = components.of(path)
      current.files?.push({ sha, id: fileId(sha, bytes), path, additions, deletions, component })
      held++
      heldCharacters += path.length
    },
    async send() {
      if (held >= BATCH || heldCharacters >= BATCH_CHARACTERS) await write()
    },
    async finish() {
      if (current) hold(current)
      current = null
      await write()
      const accounts = people.list().map(accountRow)
      await Promise.all([...underWay, marked.write(accounts)])
      underWay = []
      count += accounts.length
    },
    async idle() {
      await Promise.allSettled(underWay)
    },
    count: () => count,
  }
}

/** Collects everyone with an address, named as in the newest commit, whatever the order of the commits. */
function newestPeople() {
  const seen = new Map<string, { person: Person; at: number; sha: string }>()
  function see(person: Person, at: number, sha: string): void {
    const id = accountId(person)
    const known = seen.get(id)
    if (!known || at > known.at || (at === known.at && sha > known.sha)) seen.set(id, { person, at, sha })
  }
  return {
    see({ sha, author, committer, committedAt }: Commit): void {
      see(author, committedAt || 0, sha)
      if (committer !== author) see(committer, committedAt || 0, sha)
    },
    list: () => [...seen].filter(([id]) => id !== '').map(([, { person }]) => person),
  }
}
