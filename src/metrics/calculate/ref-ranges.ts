/** Commits, issues and cherry-picks between tags or branches of one repository. */
import { sql } from 'kysely'
import { RE2JS } from 're2js'
import type { Database } from '../../database/database.ts'
import { write } from '../../database/write.ts'
import { refCommits } from '../../domain/code.ts'
import { refsIssuesDiffs } from '../../domain/crossdomain.ts'
import { refsPrCherrypicks } from '../../domain/pull-requests.ts'
import { messageOf, UserError } from '../../errors.ts'
import { type Calculation, type CalculationRun, fill, noOrigin, type Sql, swap, word } from './calculation.ts'
import { notFinished, writeRanges } from './commit-ranges.ts'

interface Ref {
  readonly id: string
  readonly name: string
  readonly commit_sha: string
  readonly created_date: Date | null
}
interface RefPair {
  readonly newRef: Ref
  readonly oldRef: Ref
}

export const calculateCommitsDiff: Calculation = async (run) => {
  if (run.options.projectName) return 0
  const pairs = await refPairs(run)
  const apart = pairs.filter(({ newRef, oldRef }) => newRef.commit_sha !== oldRef.commit_sha)
  const shas = apart.map(({ newRef, oldRef }) => ({ newSha: newRef.commit_sha, oldSha: oldRef.commit_sha }))
  const pending = await notFinished(run.database, shas, run.fullSync)
  await write(
    run.database,
    pairs.map(({ newRef, oldRef }) =>
      refCommits.row({
        new_ref_id: newRef.id,
        old_ref_id: oldRef.id,
        new_commit_sha: newRef.commit_sha,
        old_commit_sha: oldRef.commit_sha,
      }),
    ),
  )
  return writeRanges(run.database, { repos: sql`${run.options.repoId}`, pairs: pending, signal: run.signal })
}

/** Pairs that the task names, and neighbours among the tags that match its pattern. */
async function refPairs({ database, options }: CalculationRun): Promise<RefPair[]> {
  const { repoId, pairs = [], tagsPattern = '', tagsLimit = 0, tagsOrder = '' } = options
  if (!repoId) throw new UserError('refdiff needs repoId (the repository) or projectName in its options.')
  const ids = pairs.flatMap(({ newRef, oldRef }: any) => [`${repoId}:${newRef}`, `${repoId}:${oldRef}`])
  const refs = new Map(
    (await readRefs(database, sql`id in (${sql.join(ids)})`, ids.length)).map((ref) => [ref.id, ref]),
  )
  const refOf = (name: string): Ref => {
    const found = refs.get(`${repoId}:${name}`)
    if (found) return found
    throw new UserError(`${repoId} has no ref ${name}: collect the repository first, or correct the pair.`)
  }
  const named = pairs.map(({ newRef, oldRef }: any) => ({ newRef: refOf(newRef), oldRef: refOf(oldRef) }))
  if (!tagsPattern || tagsLimit <= 1) return named
  const pattern = compile(tagsPattern)
  const tags = (await readRefs(database, sql`repo_id = ${repoId} and ref_type = 'TAG'`, 1)).filter(({ name }) =>
    pattern.matcher(name).find(),
  )
  const sorted = tags.sort(ORDERS[tagsOrder] ?? newestFirst).slice(0, tagsLimit)
  return [...named, ...sorted.slice(1).map((oldRef, index) => ({ newRef: sorted[index] as Ref, oldRef }))]
}

async function readRefs({ kysely }: Database, condition: Sql, expected: number): Promise<Ref[]> {
  if (expected === 0) return []
  const { rows } =
    await sql<Ref>`select id, name, commit_sha, created_date from refs where ${condition} order by id`.execute(kysely)
  return rows
}

function compile(pattern: string): RE2JS {
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new UserError(`tagsPattern ${JSON.stringify(pattern)} does not compile: ${messageOf(error)}`)
  }
}

type Order = (one: Ref, other: Ref) => number
const byText = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
const byName: Order = (one, other) => byText(one.name, other.name)
const newestFirst: Order = (one, other) =>
  (other.created_date?.getTime() ?? 0) - (one.created_date?.getTime() ?? 0) || byName(one, other)
/** Dot by dot, the longer number being the larger. */
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
export const ORDERS: Readonly<Record<string, Order>> = {
  alphabetically: byName,
  'reverse alphabetically': reversed(byName),
  semver: bySemver,
  'reverse semver': reversed(bySemver),
}

/** Issues that pull requests between two refs name. */
export const calculateIssuesDiff: Calculation = async (run) => {
  if (run.options.projectName) return 0
  const pairs = await refPairs(run)
  if (pairs.length === 0) return 0
  const between = sql.join(
    pairs.map(
      ({ newRef, oldRef }) => sql`select ${newRef.id} as new_ref_id, ${oldRef.id} as old_ref_id,
      ${newRef.commit_sha} as new_sha, ${oldRef.commit_sha} as old_sha`,
    ),
    sql` union all `,
  )
  return swap(run.database, async (inside) => {
    for (const { newRef, oldRef } of pairs) {
      await sql`delete from refs_issues_diffs where new_ref_id = ${newRef.id} and old_ref_id = ${oldRef.id}`.execute(
        inside.kysely,
      )
    }
    return fill(inside, {
      table: refsIssuesDiffs,
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

/** Pull requests whose titles name the one that they carry to another branch. */
export const calculatePrCherryPick: Calculation = async ({ database, options }) => {
  const title = process.env.GITHUB_PR_TITLE_PATTERN
  if (options.projectName || !title) return 0
  const { repoId } = options
  const pattern = compile(title)
  const { rows: requests } = await sql<PickedRequest>`select id, pull_request_key, title, base_ref, url, parent_pr_id
    from pull_requests where base_repo_id = ${repoId} order by pull_request_key, id`.execute(database.kysely)
  const byKey = new Map(requests.map((request) => [Number(request.pull_request_key), request]))
  const picks = new Map<PickedRequest, PickedRequest[]>()
  for (const request of requests) {
    const matcher = pattern.matcher(request.title ?? '')
    const parent = matcher.find() && matcher.groupCount() > 0 ? byKey.get(Number(matcher.group(1))) : undefined
    if (parent && parent !== request) picks.set(parent, [...(picks.get(parent) ?? []), request])
  }
  const { rows: repos } = await sql<{ name: string }>`select name from repos where id = ${repoId}`.execute(
    database.kysely,
  )
  return swap(database, async (inside) => {
    await sql`delete from refs_pr_cherrypicks where parent_pr_id in (
      select id from pull_requests where base_repo_id = ${repoId})`.execute(inside.kysely)
    for (const [parent, children] of picks) {
      await sql`update pull_requests set parent_pr_id = ${parent.id}
        where id in (${sql.join(children.map(({ id }) => id))})`.execute(inside.kysely)
    }
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
    await write(inside, rows)
    return rows.length
  })
}
