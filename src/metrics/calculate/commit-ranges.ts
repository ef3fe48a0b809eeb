/** The commits between two others: between a deployment and the success before it, or between two tags. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Cell } from '../../database/fit.ts'
import { wholeRows } from '../../database/rows.ts'
import { defineTable, key, string } from '../../database/table.ts'
import { commitsDiffs } from '../../domain/code.ts'
import { type Calculation, mapped, projectOf, type Sql, swap } from './calculation.ts'
import { type CommitGraph, loadCommitGraph } from './commit-graph.ts'

export const finishedCommitsDiffs = defineTable(
  '_tool_refdiff_finished_commits_diffs',
  { new_commit_sha: key(string(40)), old_commit_sha: key(string(40)) },
  { meaning: 'Pairs of commits whose difference has already been computed.', idPrefix: 'refdiff:FinishedCommitsDiff' },
)

export interface Pair {
  readonly newSha: string
  /** Empty: all that leads to the new commit. */
  readonly oldSha: string
}

const LONGEST_SHA = commitsDiffs.columns.new_commit_sha.size ?? 0

/**
 * A deployment that failed has no predecessor, and the reference lists its whole history again each time; nothing
 * reads those rows, so they are left out.
 */
export const calculateDeploymentCommitsDiff: Calculation = async (run) => {
  if (!run.options.projectName) return 0
  const project = projectOf(run.options)
  const pairs = await pendingPairs(
    run.database,
    sql`select distinct d.commit_sha as new_sha, coalesce(previous.commit_sha, '') as old_sha
      from cicd_deployment_commits d
      left join cicd_deployment_commits previous
        on previous.id = d.prev_success_deployment_commit_id and d.prev_success_deployment_commit_id <> ''
      where d.cicd_scope_id in (${mapped('cicd_scopes', project)})
        and (d.result = 'SUCCESS' or d.prev_success_deployment_commit_id <> '')`,
    run.fullSync,
  )
  return writeRanges(run.database, { repos: mapped('repos', project), pairs, signal: run.signal })
}

/** Pairs (`new_sha`, `old_sha`) not yet finished; all of them in a full run, as more history may be known by now. */
async function pendingPairs({ kysely }: Database, all: Sql, fullSync: boolean): Promise<Pair[]> {
  const pending = fullSync
    ? sql``
    : sql`where not exists (select 1 from ${sql.table(finishedCommitsDiffs.name)} f
        where f.new_commit_sha = pair.new_sha and f.old_commit_sha = pair.old_sha)`
  const { rows } = await sql<{ new_sha: string; old_sha: string }>`
    select new_sha, old_sha from (${all}) as pair ${pending} order by new_sha, old_sha`.execute(kysely)
  return rows
    .map(({ new_sha, old_sha }) => ({ newSha: new_sha, oldSha: old_sha }))
    .filter(({ newSha, oldSha }) => newSha !== '' && newSha.length <= LONGEST_SHA && oldSha.length <= LONGEST_SHA)
}

export async function notFinished(database: Database, pairs: readonly Pair[], fullSync: boolean): Promise<Pair[]> {
  if (pairs.length === 0) return []
  const all = pairs.map(({ newSha, oldSha }) => sql`select ${newSha} as new_sha, ${oldSha} as old_sha`)
  return pendingPairs(database, sql.join(all, sql` union `), fullSync)
}

export interface Ranges {
  readonly repos: Sql
  readonly pairs: readonly Pair[]
  readonly signal: AbortSignal
}

const BATCH_ROWS = 20_000
const BATCH_PAIRS = 500

/** Two tasks that share a scope would write the same pairs, so they take turns. */
export async function writeRanges(database: Database, { repos, pairs, signal }: Ranges): Promise<number> {
  if (pairs.length === 0) return 0
  const graph = await loadCommitGraph(database, repos)
  return database.locked('commit ranges', () =>
    swap(database, async (inside) => {
      for (let at = 0; at < pairs.length; at += BATCH_PAIRS) await forget(inside, pairs.slice(at, at + BATCH_PAIRS))
      let written = 0
      let batch: Cell[][] = []
      const send = async () => {
        signal.throwIfAborted()
        if (batch.length > 0) await inside.sendRows(wholeRows(commitsDiffs, batch), 'insert')
        written += batch.length
        batch = []
      }
      for (const pair of pairs) {
        for (const row of rowsOf(graph, pair)) {
          batch.push(row)
          if (batch.length === BATCH_ROWS) await send()
        }
      }
      await send()
      // A commit that is not known yet may come with more history; its pair is tried again.
      const finished = pairs.filter(({ newSha, oldSha }) => graph.has(newSha) && (oldSha === '' || graph.has(oldSha)))
      const cells = finished.map(({ newSha, oldSha }): Cell[] => [newSha, oldSha])
      if (cells.length > 0) await inside.sendRows(wholeRows(finishedCommitsDiffs, cells), 'insert')
      return written
    }),
  )
}

function* rowsOf(graph: CommitGraph, { newSha, oldSha }: Pair): Generator<Cell[]> {
  if (newSha === oldSha) return
  if (graph.shas.find(newSha) < 0) {
    yield [newSha, oldSha, newSha, 1]
    return
  }
  let index = 1
  for (const commit of graph.range(oldSha, newSha)) yield [newSha, oldSha, graph.shas.at(commit), index++]
}

async function forget({ kysely }: Database, pairs: readonly Pair[]): Promise<void> {
  const shas = sql.join(pairs.map(({ newSha }) => newSha))
  const tuples = sql.join(pairs.map(({ newSha, oldSha }) => sql`(${newSha}, ${oldSha})`))
  for (const table of [commitsDiffs.name, finishedCommitsDiffs.name]) {
    await sql`delete from ${sql.table(table)} where new_commit_sha in (${shas})
      and (new_commit_sha, old_commit_sha) in (${tuples})`.execute(kysely)
  }
}
