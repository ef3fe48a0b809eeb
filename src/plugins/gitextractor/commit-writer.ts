import type { MarkedRows } from '../../plugin-kit/marked-rows.ts'
import type { Commit, LogVisitor } from './commit-log.ts'
import { accountId, accountRow, type CountedCommit, fileId, listsOf } from './commit-rows.ts'
import type { Components } from './components.ts'
import type { GitTask } from './options.ts'

export interface CommitWriter {
  /** The files that follow are its own; null: they do not count. */
  begin(commit: Commit | null): void
  readonly file: LogVisitor['file']
  /** Starts to write what has become a batch; waits only while the batch before is being written. */
  send(): Promise<void>
  /** Writes the rest and waits for all of it. */
  finish(): Promise<void>
  /** Waits for what is under way, however it ends. */
  idle(): Promise<void>
  /** Rows written. */
  count(): number
}

/** The more rows go in the order of their keys, the less an index is searched for their places. */
const BATCH = 8_000
const BATCH_CHARACTERS = 8 << 20

/** Gathers a batch of commits while the one before is written; `components` only where files are wanted. */
export function commitWriter(
  { repoId, excluded }: GitTask,
  components: Components | null,
  marked: MarkedRows,
): CommitWriter {
  const known = new Set<string>()
  /** Its files may still be coming. */
  let current: CountedCommit | null = null
  let batch: CountedCommit[] = []
  let held = 0
  let heldCharacters = 0
  let writing: Promise<void>[] = []
  let count = 0

  async function write(): Promise<void> {
    await Promise.all(writing)
    const taken = batch
    batch = []
    held = 0
    heldCharacters = 0
    const people = taken.flatMap(({ commit }) => [commit.author, commit.committer])
    const fresh = people.filter((person) => {
      const id = accountId(person)
      return id !== '' && !known.has(id) && known.add(id)
    })
    const lists = listsOf(repoId, taken)
    count += fresh.length + lists.reduce((sum, { items }) => sum + items.length, 0)
    writing = [marked.write(fresh.map(accountRow)), ...lists.map(marked.writeListed)]
    // Awaited with the next batch; until then a rejection must not count as unhandled.
    for (const each of writing) each.catch(() => {})
  }

  return {
    begin(commit) {
      if (current) batch.push(current)
      current = commit && { commit, additions: 0, deletions: 0, files: components && [] }
      held++
      heldCharacters += commit?.message.length ?? 0
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
      if (current) batch.push(current)
      current = null
      await write()
      await Promise.all(writing)
    },
    async idle() {
      await Promise.allSettled(writing)
    },
    count: () => count,
  }
}
