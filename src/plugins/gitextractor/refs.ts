/** Collects the current branches and tags. Those that were deleted in the repository are deleted here too. */
import { sql } from 'kysely'
import type { TableRow } from '../../database/table.ts'
import { refs } from '../../domain/code.ts'
import { messageOf } from '../../errors.ts'
import { openMarkedRows, type SubtaskResult } from '../../plugin-kit/index.ts'
import type { Clone } from './clone.ts'
import { MARK } from './mark.ts'
import type { GitTask } from './options.ts'

type RefType = 'BRANCH' | 'TAG'

/** The folder of each kind of ref, and how its name is stored: a tag with its folder, a branch without it. */
const KINDS: Record<RefType, { folder: string; nameOf: (full: string) => string }> = {
  BRANCH: { folder: 'refs/heads/', nameOf: (full) => full.slice('refs/heads/'.length) },
  TAG: { folder: 'refs/tags/', nameOf: (full) => full },
}
const BATCH = 2500
const FIELDS = ['refname', 'objecttype', 'objectname', '*objecttype', '*objectname', 'creatordate:unix']

export async function collectRefs(task: GitTask, clone: Clone, type: RefType): Promise<SubtaskResult> {
  const { database, repoId } = task
  const { folder, nameOf } = KINDS[type]
  const marked = openMarkedRows(database, { table: MARK, params: repoId })
  let batch: TableRow[] = []
  const defaultBranch = `refs/heads/${clone.defaultBranch}`
  let total = 0

  function rowOf(line: string): TableRow | null {
    const [full = '', kind, sha, taggedKind, tagged, created = ''] = line.split('\0')
    // A tag object is replaced by the object that it points to, one step only. Tags of files and trees are not versions.
    const commit = kind === 'commit' ? sha : taggedKind === 'commit' || taggedKind === 'tag' ? tagged : undefined
    if (!commit) return null
    const name = nameOf(full)
    return refs.row({
      id: `${repoId}:${name}`,
      repo_id: repoId,
      name,
      commit_sha: commit,
      is_default: full === defaultBranch,
      ref_type: type,
      // Git does not store when a branch was created.
      created_date: type === 'TAG' && created !== '' ? new Date(Number(created) * 1000) : null,
    })
  }

  async function write(): Promise<void> {
    await marked.write(batch)
    batch = []
  }

  let rest = ''
  const decoder = new TextDecoder()
  await clone.git(['for-each-ref', `--format=${FIELDS.map((field) => `%(${field})`).join('%00')}`, folder], {
    onOutput: async (piece) => {
      const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        try {
          const row = rowOf(line)
          if (!row) continue
          batch.push(row)
          total++
        } catch (error) {
          task.log?.(`A ref is left out: ${messageOf(error)}`)
        }
      }
      if (batch.length >= BATCH) await write()
      task.progress({ done: total })
    },
  })
  await write()
  await marked.sweep(refs, sql`ref_type = ${type}`)
  return { records: total, rows: total, quarantined: 0 }
}
