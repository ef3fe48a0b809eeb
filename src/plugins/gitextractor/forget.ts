/** Removes a repository: its clone, the notes of earlier runs, and its rows, except for those that other repositories need. */

import { rm } from 'node:fs/promises'
import { type RawBuilder, sql } from 'kysely'
import type { AnyTable } from '../../database/table.ts'
import {
  commitFileComponents,
  commitFiles,
  commitParents,
  commits,
  commitsDiffs,
  refs,
  repoCommits,
} from '../../domain/code.ts'
import { accounts } from '../../domain/people.ts'
import { pullRequestCommits } from '../../domain/pull-requests.ts'
import { finishedCommitsDiffs } from '../../metrics/calculate/commit-ranges.ts'
import { retrying, type TaskRun } from '../../plugin-kit/index.ts'
import { homeOf, lockOf } from './clone.ts'
import { forgetCoverage } from './coverage.ts'
import { MARK } from './mark.ts'

const BATCH = 1000

export async function forgetRepository(database: TaskRun['database'], repoId: string): Promise<void> {
  const run = <Row>(statement: RawBuilder<Row>) => retrying(database, () => statement.execute(database.kysely))
  const isMarked = sql`_raw_data_table = ${MARK} and _raw_data_params = ${repoId}`
  const remove = async (table: AnyTable, column: string, values: readonly string[], condition = sql`1 = 1`) => {
    for (const some of inPieces(values)) {
      await run(
        sql`delete from ${sql.table(table.name)} where ${sql.ref(column)} in (${sql.join(some)}) and ${condition}`,
      )
    }
  }
  /** Gives rows that other repositories need the mark of such a repository, so that they are removed together with it. */
  const handOver = async (table: AnyTable, column: string, holders: ReadonlyMap<string, string>) => {
    const byHolder = Map.groupBy(holders.keys(), (value) => holders.get(value) as string)
    for (const [holder, values] of byHolder) {
      for (const some of inPieces(values)) {
        await run(sql`update ${sql.table(table.name)} set _raw_data_params = ${holder}
          where ${sql.ref(column)} in (${sql.join(some)}) and ${isMarked}`)
      }
    }
  }
  const valuesOf = async (query: RawBuilder<unknown>) =>
    (await run(query as RawBuilder<{ value: string }>)).rows.map(({ value }) => value)

  /** Finds another repository for each of the commits that is also in one. */
  async function otherHolders(shas: readonly string[], others: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>()
    for (const some of inPieces(others)) {
      const { rows } = await run(sql<{ sha: string; holder: string }>`select commit_sha as sha, min(repo_id) as holder
        from ${sql.table(repoCommits.name)} where repo_id in (${sql.join(some)}) and commit_sha in (${sql.join(shas)})
        group by commit_sha`)
      for (const { sha, holder } of rows) found.set(sha, holder)
    }
    return found
  }

  async function forgetCommits(shas: readonly string[], others: readonly string[]): Promise<void> {
    const holders = await otherHolders(shas, others)
    const inPullRequests = await valuesOf(sql`select distinct commit_sha as value
      from ${sql.table(pullRequestCommits.name)} where commit_sha in (${sql.join(shas)})`)
    const needed = new Set([...holders.keys(), ...inPullRequests])
    const gone = shas.filter((sha) => !needed.has(sha))
    /** Returns the ids of files, with the sha of the commit of each. */
    const filesOf = async (some: readonly string[]) => {
      const { rows } = await run(sql<{ id: string; sha: string }>`select id, commit_sha as sha
        from ${sql.table(commitFiles.name)} where commit_sha in (${sql.join(some)})`)
      return new Map(rows.map(({ id, sha }) => [id, sha]))
    }
    const isOurs = sql`_raw_data_table = ${MARK}`
    if (gone.length > 0) {
      await remove(commitFileComponents, 'commit_file_id', [...(await filesOf(gone)).keys()], isOurs)
      for (const table of [commitFiles, commitParents]) await remove(table, 'commit_sha', gone, isOurs)
      await remove(commits, 'sha', gone, isOurs)
      for (const table of [commitsDiffs, finishedCommitsDiffs]) await remove(table, 'new_commit_sha', gone)
    }
    if (holders.size > 0) {
      const files = [...(await filesOf([...holders.keys()]))].map(
        ([id, sha]) => [id, holders.get(sha) as string] as const,
      )
      await handOver(commitFileComponents, 'commit_file_id', new Map(files))
      for (const table of [commitFiles, commitParents]) await handOver(table, 'commit_sha', holders)
      await handOver(commits, 'sha', holders)
    }
    await remove(repoCommits, 'commit_sha', shas, sql`repo_id = ${repoId}`)
  }

  /** Removes authors whom no commit names any more. */
  async function forgetPeople(): Promise<void> {
    const ids = await valuesOf(sql`select id as value from ${sql.table(accounts.name)} where ${isMarked}`)
    for (const some of inPieces(ids)) {
      const holders = new Map<string, string>()
      const named = new Set<string>()
      for (const column of ['author_id', 'committer_id']) {
        const { rows } = await run(sql<{ id: string; holder: string | null }>`select ${sql.ref(column)} as id,
          min(case when _raw_data_table = ${MARK} then _raw_data_params end) as holder
          from ${sql.table(commits.name)} where ${sql.ref(column)} in (${sql.join(some)}) group by ${sql.ref(column)}`)
        for (const { id, holder } of rows) {
          named.add(id)
          if (holder) holders.set(id, holder)
        }
      }
      await remove(
        accounts,
        'id',
        some.filter((id) => !named.has(id)),
        isMarked,
      )
      await handOver(accounts, 'id', holders)
    }
  }

  await database.locked(lockOf(repoId), () => rm(homeOf(repoId), { recursive: true, force: true }))
  // This comes first: rows that a crash leaves behind will then be collected again.
  await forgetCoverage(database, repoId)
  await run(sql`delete from ${sql.table(refs.name)} where repo_id = ${repoId}`)
  const others = await valuesOf(
    sql`select distinct repo_id as value from ${sql.table(repoCommits.name)} where repo_id <> ${repoId}`,
  )
  for (;;) {
    const shas = await valuesOf(sql`select commit_sha as value from ${sql.table(repoCommits.name)}
      where repo_id = ${repoId} order by commit_sha limit ${sql.lit(BATCH)}`)
    if (shas.length === 0) break
    await forgetCommits(shas, others)
  }
  await forgetPeople()
}

function* inPieces<Item>(items: readonly Item[]): Generator<Item[]> {
  for (let start = 0; start < items.length; start += BATCH) yield items.slice(start, start + BATCH)
}
