/** Collects commits with their parents, authors and line counts: only the new ones, or all of them in a full pass. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type RawBuilder, sql } from 'kysely'
import { commitFileComponents, commitFiles, commitParents, commits, repoCommits } from '../../domain/code.ts'
import { type MarkedRows, openMarkedRows, type SubtaskResult } from '../../plugin-kit/index.ts'
import type { Clone } from './clone.ts'
import { logReader } from './commit-log.ts'
import { objectReader } from './commit-objects.ts'
import { commitWriter } from './commit-writer.ts'
import { readComponents } from './components.ts'
import { openCoverage } from './coverage.ts'
import { MARK } from './mark.ts'
import type { GitTask } from './options.ts'

export async function collectCommits(task: GitTask, clone: Clone): Promise<SubtaskResult> {
  const { database, repoId, since } = task
  const components = task.withFiles ? await readComponents(database, repoId) : null
  const coverage = await openCoverage(task, components?.description ?? '')
  const known = coverage.tips && (await existing(clone, coverage.tips))
  if (!known) await coverage.begin()

  const marked = openMarkedRows(database, { table: MARK, params: repoId })
  // In the first pass, if the clone holds only commits, git lists all objects. That is faster than walking the history, and sorted.
  const isSorted = !known && clone.holdsOnlyCommits
  const writer = commitWriter(task, { components, isSorted }, marked)
  const cut = await cutCommits(clone)
  let total = 0
  const reader = (isSorted ? objectReader : logReader)({
    commit(commit) {
      const isOld = since !== null && commit.committedAt * 1000 < since.getTime()
      // The changes of a commit whose parents were not fetched are unknown.
      const isWanted = !cut.has(commit.sha) && !isOld
      writer.begin(isWanted ? commit : null)
      if (isWanted) total++
    },
    file: writer.file,
  })
  try {
    await clone.git(isSorted ? ALL_OBJECTS : ['log', ...logParameters(task), '--all', '--stdin'], {
      input: (known ?? []).map((sha) => `^${sha}\n`).join(''),
      onOutput: async (piece) => {
        reader.read(piece)
        await writer.send()
        task.progress({ done: total })
      },
    })
    reader.end()
    await writer.finish()
    task.progress({ done: total })
  } finally {
    await writer.idle()
  }
  if (!known && !coverage.isEmpty) await sweep(marked, repoId)
  await coverage.remember(await tipsOf(clone))
  return { records: total, rows: writer.count(), quarantined: 0 }
}

const ALL_OBJECTS = ['cat-file', '--batch-all-objects', '--batch', '--buffer']

/** A merge counts as its changes against the first parent. A rename is one change of the new path. */
const logParameters = ({ withStats }: GitTask) => [
  '-z',
  '--format=raw',
  '--encoding=UTF-8',
  '--no-mailmap',
  '--no-notes',
  '--no-show-signature',
  ...(withStats ? ['--numstat', '--find-renames', '--diff-merges=first-parent', '--no-ext-diff', '--no-textconv'] : []),
]

/** Returns the commits from which all in the clone can be reached. Branches come last, because they change most. */
async function tipsOf(clone: Clone): Promise<string[]> {
  const tips = await clone.gitText(['rev-list', '--no-walk=unsorted', '--tags', '--branches'])
  return tips.split('\n').filter((sha) => sha !== '')
}

/** Returns those remembered commits that the clone has. A new clone lacks commits that were removed by a force push. */
async function existing(clone: Clone, shas: readonly string[]): Promise<string[]> {
  const found = await clone.gitText(['cat-file', '--batch-check=%(objecttype) %(objectname)'], {
    input: shas.map((sha) => `${sha}\n`).join(''),
  })
  return [...found.matchAll(/^commit (\w+)$/gm)].map(([, sha]) => sha as string)
}

/** The commits at which a shallow history was cut. */
async function cutCommits({ folder }: Clone): Promise<Set<string>> {
  const text = await readFile(join(folder, 'shallow'), 'utf8').catch(() => '')
  return new Set(text.split('\n').filter((line) => line !== ''))
}

/**
 * Deletes rows that were not written again. Forks share commits, so those that another repository holds are kept. Authors are
 * kept too, because they belong to no repository.
 */
async function sweep(marked: MarkedRows, repoId: string): Promise<void> {
  await marked.sweep(repoCommits, sql`repo_id = ${repoId}`)
  const holder = { table: repoCommits, column: 'commit_sha' }
  await marked.sweepUnless(commits, 'sha', holder)
  await marked.sweepUnless(commitParents, 'commit_sha', holder)
  const files = sql`select 1 from ${sql.table(commitFiles.name)} as f where f.id = commit_file_id`
  await marked.sweep(commitFiles, notOnlyOfOthers(sql.ref('commit_files.commit_sha'), repoId))
  await marked.sweep(
    commitFileComponents,
    sql`(not exists (${files}) or exists (${files} and ${notOnlyOfOthers(sql.ref('f.commit_sha'), repoId)}))`,
  )
}

/** Keeps the files of commits that only other repositories hold now. The files of this repository's commits were written again. */
function notOnlyOfOthers(sha: RawBuilder<unknown>, repoId: string): RawBuilder<unknown> {
  const holders = sql`select 1 from ${sql.table(repoCommits.name)} as r where r.commit_sha = ${sha}`
  return sql`(exists (${holders} and r.repo_id = ${repoId}) or not exists (${holders}))`
}
