/** Remembers which commits earlier passes have read, so that the next pass reads only new ones. */
import { repoCommits } from '../../domain/code.ts'
import { openRememberedText } from '../../plugin-kit/index.ts'
import type { GitTask } from './options.ts'

interface Coverage {
  /** Everything that can be reached from these is stored. Null: nothing is, or it was stored with other settings. */
  readonly tips: readonly string[] | null
  /** No pass has stored anything of this repository yet. */
  readonly isEmpty: boolean
  /** Must be called before a pass over everything. After an interruption, only another such pass can complete the data. */
  begin(): Promise<void>
  remember(tips: readonly string[]): Promise<void>
}

interface Remembered {
  readonly config: string
  readonly since: number | null
  readonly tips: readonly string[]
}

/** Marks a pass that has begun: nothing is covered, but some rows may be stored. */
const BEGUN: Remembered = { config: '', since: null, tips: [] }
/** The stored text has room for this many. Further tips are forgotten, so the commits that they lead to are read again. */
const MOST_TIPS = 20_000

const noteOf = (database: GitTask['database'], repoId: string) =>
  openRememberedText(database, { plugin: 'gitextractor', subtask: 'Collect Commits', params: repoId })

export const forgetCoverage = (database: GitTask['database'], repoId: string): Promise<void> =>
  noteOf(database, repoId).forget()

export async function openCoverage(task: GitTask, components: string): Promise<Coverage> {
  const { database, repoId, fullSync, withStats, withFiles, excluded } = task
  const since = task.since?.getTime() ?? null
  const config = JSON.stringify({ withStats, withFiles, excluded, components })
  const note = noteOf(database, repoId)
  const text = await note.read()
  const last: Remembered | null = fullSync || !text ? null : JSON.parse(text)
  const isCovered =
    last?.config === config &&
    (last.since === null || (since !== null && last.since <= since)) &&
    (since !== null || last.tips.length === 0 || (await hasCommits(task)))
  return {
    tips: isCovered ? last.tips : null,
    isEmpty: !text && !(await hasCommits(task)),
    begin: () => note.write(JSON.stringify(BEGUN)),
    remember: (tips) => {
      const from = isCovered ? last.since : since
      return note.write(JSON.stringify({ config, since: from, tips: tips.slice(-MOST_TIPS) } satisfies Remembered))
    },
  }
}

/** Checks for commits, because somebody may have deleted the data. */
async function hasCommits({ database, repoId }: GitTask): Promise<boolean> {
  const query = database.kysely.selectFrom(repoCommits.name).select('commit_sha').where('repo_id', '=', repoId)
  return (await query.limit(1).execute()).length > 0
}
