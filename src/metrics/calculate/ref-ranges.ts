/** Calculates commits, issues and cherry-picks between tags or branches of one repository. */

import { type RawBuilder, sql } from 'kysely'
import { byName } from '../../basics/by-name.ts'
import { compilePattern, type Pattern } from '../../basics/user-patterns.ts'
import { readConfig } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { among, inPieces, type Piece } from '../../database/pieces.ts'
import type { AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { commits, refCommits } from '../../domain/code.ts'
import { refsIssuesDiffs } from '../../domain/crossdomain.ts'
import { refsPrCherrypicks } from '../../domain/pull-requests.ts'
import { UserError } from '../../errors.ts'
import { type Calculation, type CalculationRun, noOrigin, type Sql, word } from './calculation.ts'
import { calculateRanges, finishedCommitsDiffs } from './commit-ranges.ts'
import { fill, inTurn, replaceRows, writeInto } from './results.ts'

interface Ref {
  readonly id: string
  readonly name: string
  readonly commit_sha: string
  readonly ref_type: string | null
  readonly created_date: Date | null
}
interface RefPair {
  readonly newRef: Ref
  readonly oldRef: Ref
}
type RefIds = readonly [newRef: string, oldRef: string]
interface Refs {
  readonly pairs: readonly RefPair[]
  /** Tells whether a stored pair of refs is one that this task makes, or made earlier. */
  readonly isOurs: (pair: RefIds) => boolean
}

export const calculateCommitsDiff: Calculation = async (run) => {
  if (run.options.projectName) return 0
  const refs = await readRefs(run)
  const { repoId } = run.options
  await inTurn(run.database, refCommits.name, async (inside) =>
    replaceRows(inside, refCommits, await conditionsOf(inside, refCommits, repoId, refs), (table) =>
      writeInto(
        inside,
        table,
        refs.pairs.map(({ newRef, oldRef }) =>
          refCommits.row({
            new_ref_id: newRef.id,
            old_ref_id: oldRef.id,
            new_commit_sha: newRef.commit_sha,
            old_commit_sha: oldRef.commit_sha,
          }),
        ),
      ),
    ),
  )
  const owner = `repo ${repoId}`
  return calculateRanges(run, {
    owner,
    repos: sql`${repoId}`,
    want: (inside, table) =>
      fill(inside, {
        table,
        columns: { owner: sql`${owner}`, new_commit_sha: sql`c.new_commit_sha`, old_commit_sha: sql`c.old_commit_sha` },
        from: sql`from (select distinct new_commit_sha, old_commit_sha from ref_commits where ${isOfRepo(repoId)}) c
          where c.new_commit_sha <> c.old_commit_sha and c.new_commit_sha <> ''`,
      }),
  })
}

const isOfRepo = (repoId: string) => sql`left(new_ref_id, ${sql.lit(repoId.length + 1)}) = ${`${repoId}:`}`

/** Removes what was calculated between refs of a repository, and between commits that no repository holds any more. */
export async function forgetRanges(database: Database, repoId: string): Promise<void> {
  const run = (statement: Sql) => retrying(database, () => statement.execute(database.kysely))
  for (const { name } of [refCommits, refsIssuesDiffs]) {
    await run(sql`delete from ${sql.table(name)} where ${isOfRepo(repoId)}`)
  }
  await run(sql`delete from ${sql.table(finishedCommitsDiffs.name)} where not exists (
    select 1 from ${sql.table(commits.name)} as c where c.sha = new_commit_sha)`)
}

/** Reads the pairs that the task names, and pairs of neighbours among the tags that match its pattern. */
async function readRefs({ database, options }: CalculationRun): Promise<Refs> {
  const { repoId, pairs = [], tagsPattern = '', tagsLimit = 0, tagsOrder = '' } = options
  if (!repoId) throw new UserError('refdiff needs repoId (the repository) or projectName in its options.')
  const { rows } = await sql<Ref>`select id, name, commit_sha, ref_type, created_date from refs
    where repo_id = ${repoId} order by id`.execute(database.kysely)
  const refs = new Map(rows.map((ref) => [ref.id, ref]))
  const refOf = (name: string): Ref => {
    const found = refs.get(`${repoId}:${name}`)
    if (found) return found
    throw new UserError(`${repoId} has no ref ${name}: collect the repository first, or correct the pair.`)
  }
  const named = pairs.map(({ newRef, oldRef }: { newRef: string; oldRef: string }) => ({
    newRef: refOf(newRef),
    oldRef: refOf(oldRef),
  }))
  const hasTags = tagsPattern && tagsLimit > 1
  const pattern = hasTags ? compilePattern(tagsPattern, 'tagsPattern') : null
  const tags = rows.filter(({ ref_type, name }) => ref_type === 'TAG' && pattern?.matcher(name).find())
  const matching = new Set(tags.map(({ id }) => id))
  const sorted = tags.sort(ORDERS[tagsOrder] ?? newestFirst).slice(0, tagsLimit)
  return {
    pairs: [...named, ...sorted.slice(1).map((oldRef, index) => ({ newRef: sorted[index] as Ref, oldRef }))],
    isOurs: (pair) => pair.some((id) => !refs.has(id)) || pair.every((id) => matching.has(id)),
  }
}

/** Conditions for the pairs of the task, and for the stored pairs of the repository that are to be removed. */
async function conditionsOf(
  { kysely }: Database,
  table: AnyTable,
  repoId: string,
  { pairs, isOurs }: Refs,
): Promise<Sql[]> {
  const { rows } = await sql<Record<'new_ref_id' | 'old_ref_id', string>>`
    select distinct new_ref_id, old_ref_id from ${sql.table(table.name)}
    where ${isOfRepo(repoId)}`.execute(kysely)
  const stored = rows.map(({ new_ref_id, old_ref_id }): RefIds => [new_ref_id, old_ref_id])
  const asked = pairs.map(({ newRef, oldRef }): RefIds => [newRef.id, oldRef.id])
  return [...inPieces([...asked, ...stored.filter(isOurs)], 2)].map((piece) =>
    among(sql`(new_ref_id, old_ref_id)`, piece, ([newRef, oldRef]) => sql`(${newRef}, ${oldRef})`),
  )
}

type Order = (one: Ref, other: Ref) => number
const byText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
const byLetters: Order = (one, other) => byText(one.name, other.name)
const newestFirst: Order = (one, other) =>
  (other.created_date?.getTime() ?? 0) - (one.created_date?.getTime() ?? 0) || byLetters(one, other)
/** Compares part by part between the dots. The longer part is the larger number. */
const bySemver: Order = (one, other) => {
  const parts = other.name.split('.')
  for (const [index, part] of one.name.split('.').entries()) {
    const against = parts[index] ?? ''
    const order = part.length - against.length || byText(part, against)
    if (order !== 0) return order
  }
  return one.name.split('.').length - parts.length
}
const reversed =
  (order: Order): Order =>
  (one, other) =>
    order(other, one)
const ORDERS: Readonly<Record<string, Order>> = byName({
  alphabetically: byLetters,
  'reverse alphabetically': reversed(byLetters),
  semver: bySemver,
  'reverse semver': reversed(bySemver),
})

/** Calculates the issues that are named by pull requests between two refs. */
export const calculateIssuesDiff: Calculation = async (run) => {
  if (run.options.projectName) return 0
  const refs = await readRefs(run)
  return inTurn(run.database, refsIssuesDiffs.name, async (inside) =>
    replaceRows(
      inside,
      refsIssuesDiffs,
      await conditionsOf(inside, refsIssuesDiffs, run.options.repoId, refs),
      async (table) => {
        let written = 0
        for (const piece of inPieces(refs.pairs, 4)) written += await fillIssues(inside, table, piece)
        return written
      },
    ),
  )
}

function fillIssues(inside: Database, table: AnyTable, pairs: Piece<RefPair>): Promise<number> {
  const between: RawBuilder<unknown> = sql.join(
    pairs.map(
      ({ newRef, oldRef }) => sql`select ${newRef.id} as new_ref_id, ${oldRef.id} as old_ref_id,
      ${newRef.commit_sha} as new_sha, ${oldRef.commit_sha} as old_sha`,
    ),
    sql` union all `,
  )
  return fill(inside, {
    table,
    with: sql`with pairs as (${between}), changes as (
        select p.*, d.commit_sha from pairs p
        inner join commits_diffs d on d.new_commit_sha = p.new_sha and d.old_commit_sha = p.old_sha
      ), carried as (
        select c.*, r.pull_request_id from changes c inner join pull_request_commits r on r.commit_sha = c.commit_sha
        union all
        select c.*, r.id from changes c inner join pull_requests r on r.merge_commit_sha = c.commit_sha
      )`,
    columns: {
      new_ref_id: sql`c.new_ref_id`,
      old_ref_id: sql`c.old_ref_id`,
      issue_id: sql`l.issue_id`,
      new_ref_commit_sha: sql`min(c.new_sha)`,
      old_ref_commit_sha: sql`min(c.old_sha)`,
      issue_number: sql`min(${word('l.issue_key')})`,
      ...noOrigin,
    },
    from: sql`from carried c inner join pull_request_issues l on l.pull_request_id = c.pull_request_id
      where 1 = 1 group by c.new_ref_id, c.old_ref_id, l.issue_id`,
  })
}

interface PickedRequest {
  readonly id: string
  readonly pull_request_key: number
  readonly title: string | null
  readonly base_ref: string | null
  readonly url: string | null
  readonly parent_pr_id: string | null
}

/** Finds pull requests whose title names the one that they carry to another branch. */
export const calculatePrCherryPick: Calculation = ({ database, options }) => {
  const { repoId, projectName } = options
  if (projectName || !repoId) return Promise.resolve(0)
  const title = readConfig(process.env).cherryPickTitle
  const pattern = title ? compilePattern(title, 'prPattern') : null
  const ofRepo = sql`parent_pr_id in (select id from pull_requests where base_repo_id = ${repoId})`
  const isGone = sql`not exists (select 1 from pull_requests r where r.id = ${sql.ref('refs_pr_cherrypicks.parent_pr_id')})`
  return inTurn(database, refsPrCherrypicks.name, async (inside) => {
    const { rows: requests } = await sql<PickedRequest>`select id, pull_request_key, title, base_ref, url, parent_pr_id
      from pull_requests where base_repo_id = ${repoId} order by pull_request_key, id`.execute(inside.kysely)
    const { rows: known } = await sql<{ id: string }>`select parent_pr_id as id from refs_pr_cherrypicks
      where ${ofRepo}`.execute(inside.kysely)
    const { rows: repos } = await sql<{ name: string }>`select name from repos where id = ${repoId}`.execute(
      inside.kysely,
    )
    const picks = pattern ? picksOf(pattern, requests) : new Map<PickedRequest, PickedRequest[]>()
    await setParents(inside, requests, picks, new Set(known.map(({ id }) => id)))
    const rows = [...picks].map(([parent, children]) =>
      refsPrCherrypicks.row({
        parent_pr_id: parent.id,
        parent_pr_key: parent.pull_request_key,
        parent_pr_url: parent.url,
        repo_name: repos[0]?.name,
        cherrypick_base_branches: children.map(({ base_ref }) => base_ref).join(','),
        cherrypick_pr_keys: children.map(({ pull_request_key }) => pull_request_key).join(','),
      }),
    )
    return replaceRows(inside, refsPrCherrypicks, [ofRepo, isGone], (table) => writeInto(inside, table, rows))
  })
}

type Picks = ReadonlyMap<PickedRequest, readonly PickedRequest[]>

function picksOf(pattern: Pattern, requests: readonly PickedRequest[]): Picks {
  const byKey = new Map(requests.map((request) => [Number(request.pull_request_key), request]))
  const picks = new Map<PickedRequest, PickedRequest[]>()
  for (const request of requests) {
    const matcher = pattern.matcher(request.title ?? '')
    const parent = matcher.find() && matcher.groupCount() > 0 ? byKey.get(Number(matcher.group(1))) : undefined
    if (parent && parent !== request) picks.set(parent, [...(picks.get(parent) ?? []), request])
  }
  return picks
}

/** A pull request that is no cherry-pick any more loses its parent. A parent that the tool itself reported is kept. */
async function setParents(
  { kysely }: Database,
  requests: readonly PickedRequest[],
  picks: Picks,
  known: ReadonlySet<string>,
): Promise<void> {
  const parents = new Map([...picks].flatMap(([parent, children]) => children.map((child) => [child, parent.id])))
  const wrong = requests.flatMap((request) => {
    const now = request.parent_pr_id ?? ''
    const parent = parents.get(request) ?? (known.has(now) ? '' : now)
    return parent === now ? [] : [{ id: request.id, parent }]
  })
  for (const [parent, children] of Map.groupBy(wrong, (each) => each.parent)) {
    for (const piece of inPieces(children)) {
      await sql`update pull_requests set parent_pr_id = ${parent}
        where ${among(sql`id`, piece, ({ id }) => id)}`.execute(kysely)
    }
  }
}
