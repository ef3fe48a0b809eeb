/** Calculates the commits between two others: between a deployment and the success before it, or between two tags. */

import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Cell } from '../../database/fit.ts'
import { among, inPieces, type Piece } from '../../database/pieces.ts'
import { wholeRows } from '../../database/rows.ts'
import type { AnyTable } from '../../database/table.ts'
import { defineTable, indexed, key, string } from '../../database/table.ts'
import { commitsDiffs } from '../../domain/code.ts'
import { type Calculation, type CalculationRun, type Forgetting, mapped, projectOf, type Sql } from './calculation.ts'
import { type CommitGraph, loadCommitGraph } from './commit-graph.ts'
import { fill, inTurn, remove, replaceRows } from './results.ts'

export const finishedCommitsDiffs = defineTable(
  '_tool_refdiff_finished_commits_diffs',
  { new_commit_sha: key(string(40)), old_commit_sha: key(string(40)) },
  { meaning: 'Pairs of commits whose difference has already been computed.', idPrefix: 'refdiff:FinishedCommitsDiff' },
)

/** Several owners can share a range. It is removed when no owner needs it any more. */
export const wantedRanges = defineTable(
  '_weir_wanted_ranges',
  { owner: key(indexed(string(300))), new_commit_sha: key(string(40)), old_commit_sha: key(string(40)) },
  {
    meaning: 'Pairs of commits whose difference a project needs for its deployments, or a repository for its tags.',
    keyOrder: ['new_commit_sha', 'old_commit_sha', 'owner'],
  },
)

interface Pair {
  readonly newSha: string
  /** Empty: everything that leads to the new commit. */
  readonly oldSha: string
}

const LONGEST_SHA = commitsDiffs.columns.new_commit_sha.size ?? 0

const OF_PROJECT = 'project '
const ownerOf = (project: string) => `${OF_PROJECT}${project}`

/** A failed deployment has no predecessor, and DevLake lists its whole history again each time. Nothing reads those rows, so they are left out. */
export const calculateDeploymentCommitsDiff: Calculation = async (run) => {
  if (!run.options.projectName) return 0
  const project = projectOf(run.options)
  const pairs = sql`select distinct d.commit_sha as new_sha, coalesce(previous.commit_sha, '') as old_sha
    from cicd_deployment_commits d
    left join cicd_deployment_commits previous
      on previous.id = d.prev_success_deployment_commit_id and d.prev_success_deployment_commit_id <> ''
    where d.cicd_scope_id in (${mapped('cicd_scopes', project)})
      and (d.result = 'SUCCESS' or d.prev_success_deployment_commit_id <> '')`
  return calculateRanges(run, {
    owner: ownerOf(project),
    repos: mapped('repos', project),
    want: (inside, table) =>
      fill(inside, {
        table,
        columns: {
          owner: sql`${ownerOf(project)}`,
          new_commit_sha: sql`pair.new_sha`,
          old_commit_sha: sql`pair.old_sha`,
        },
        from: sql`from (${pairs}) pair where pair.new_sha <> ''
          and char_length(pair.new_sha) <= ${sql.lit(LONGEST_SHA)} and char_length(pair.old_sha) <= ${sql.lit(LONGEST_SHA)}`,
      }),
  })
}

/** Also removes the ranges of projects that no longer exist, for example because they were renamed. */
export const forgetDeploymentRanges: Forgetting = async (inside, project) => {
  const { rows } = await sql<{ owner: string }>`select distinct owner from ${WANTED}
    where owner = ${ownerOf(project)} or left(owner, ${sql.lit(OF_PROJECT.length)}) = ${OF_PROJECT}
      and substring(owner, ${sql.lit(OF_PROJECT.length + 1)}) not in (select project_name from project_mapping)`.execute(
    inside.kysely,
  )
  let forgotten = 0
  for (const { owner } of rows) {
    const before = await pairsOf(inside, owner)
    forgotten += await remove(inside, wantedRanges, sql`owner = ${owner}`)
    await forgetUnwanted(inside, before)
  }
  return forgotten
}

interface Ranges {
  readonly owner: string
  readonly repos: Sql
  /** Puts all pairs of the owner into the table that it is given. */
  readonly want: (inside: Database, table: AnyTable) => Promise<number>
}

const BATCH_ROWS = 20_000
const WANTED = sql.table(wantedRanges.name)

/** Calculates the ranges that are not finished, or all of them in a full run, because more history may be known by now. */
export async function calculateRanges({ database, fullSync, signal }: CalculationRun, ranges: Ranges): Promise<number> {
  const { owner, repos, want } = ranges
  await inTurn(database, commitsDiffs.name, async (inside) => {
    const before = await pairsOf(inside, owner)
    const wanted = await replaceRows(inside, wantedRanges, [sql`owner = ${owner}`], (table) => want(inside, table))
    if (before.length > 0) await forgetUnwanted(inside, before)
    return wanted
  })
  const isPending = fullSync
    ? sql`1 = 1`
    : sql`not exists (select 1 from ${sql.table(finishedCommitsDiffs.name)} f
        where f.new_commit_sha = w.new_commit_sha and f.old_commit_sha = w.old_commit_sha)`
  const pairs = await pairsOf(database, owner, isPending)
  if (pairs.length === 0) return 0
  const graph = await loadCommitGraph(database, repos)
  return inTurn(database, commitsDiffs.name, (inside) => writeRanges(inside, graph, pairs, signal))
}

async function pairsOf({ kysely }: Database, owner: string, condition = sql`1 = 1`): Promise<Pair[]> {
  const { rows } =
    await sql<Pair>`select w.new_commit_sha as ${sql.id('newSha')}, w.old_commit_sha as ${sql.id('oldSha')}
    from ${WANTED} w where w.owner = ${owner} and ${condition} order by 1, 2`.execute(kysely)
  return rows
}

const keyOf = ({ newSha, oldSha }: Pair) => `${newSha} ${oldSha}`

async function forgetUnwanted(inside: Database, before: readonly Pair[]): Promise<void> {
  const wanted = new Set<string>()
  for (const piece of inPieces(before, 3)) {
    const { rows } = await sql<Pair>`select new_commit_sha as ${sql.id('newSha')}, old_commit_sha as ${sql.id('oldSha')}
      from ${WANTED} where ${isPair(piece)}`.execute(inside.kysely)
    for (const pair of rows) wanted.add(keyOf(pair))
  }
  await forget(
    inside,
    before.filter((pair) => !wanted.has(keyOf(pair))),
  )
}

async function writeRanges(
  inside: Database,
  graph: CommitGraph,
  pairs: readonly Pair[],
  signal: AbortSignal,
): Promise<number> {
  await forget(inside, pairs)
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
  // A commit that is not known yet may come later, with more history, so its pair is tried again.
  const finished = pairs.filter(({ newSha, oldSha }) => graph.has(newSha) && (oldSha === '' || graph.has(oldSha)))
  const cells = finished.map(({ newSha, oldSha }): Cell[] => [newSha, oldSha])
  if (cells.length > 0) await inside.sendRows(wholeRows(finishedCommitsDiffs, cells), 'insert')
  return written
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

/** One of the database engines uses the index only if the first column also has a condition by itself. */
const isPair = (pairs: Piece<Pair>): Sql =>
  sql`${among(sql`new_commit_sha`, pairs, ({ newSha }) => newSha)} and ${among(
    sql`(new_commit_sha, old_commit_sha)`,
    pairs,
    ({ newSha, oldSha }) => sql`(${newSha}, ${oldSha})`,
  )}`

async function forget({ kysely }: Database, pairs: readonly Pair[]): Promise<void> {
  for (const piece of inPieces(pairs, 3)) {
    for (const table of [commitsDiffs.name, finishedCommitsDiffs.name]) {
      await sql`delete from ${sql.table(table)} where ${isPair(piece)}`.execute(kysely)
    }
  }
}
