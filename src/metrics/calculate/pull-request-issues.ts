import { sql } from 'kysely'
import { RE2JS } from 're2js'
import type { Database } from '../../database/database.ts'
import { write } from '../../database/write.ts'
import { pullRequestIssues } from '../../domain/crossdomain.ts'
import { messageOf, UserError } from '../../errors.ts'
import { type Calculation, mapped, projectOf, type Sql, swap } from './calculation.ts'

/** Marks the links made here, apart from those that a tool knows itself. */
const REMARK = 'pull_requests,'
const BATCH = 1000

interface PullRequest {
  readonly id: string
  readonly pull_request_key: number | null
  readonly title: string | null
  readonly description: string | null
  readonly head_ref: string | null
}

/** Links pull requests to the issues of the project whose keys their title, description or branch names. */
export const linkPrToIssue: Calculation = ({ database, options, signal }) => {
  const project = projectOf(options)
  const pattern = compile(options.prToIssueRegexp)
  const repos = mapped('repos', project)
  const issuesOfProject = sql`select issue_id from board_issues where board_id in (${mapped('boards', project)})`
  return swap(database, async (inside) => {
    await sql`delete from pull_request_issues where coalesce(_raw_data_table, '') = ''
      and _raw_data_remark like ${`%${REMARK}%`}
      and pull_request_id in (select id from pull_requests where base_repo_id in (${repos}))
      and issue_id in (${issuesOfProject})`.execute(inside.kysely)
    let written = 0
    for await (const batch of pullRequestsOf(database, repos)) {
      signal.throwIfAborted()
      const keys = batch.map((each) => [each, keysIn(pattern, each)] as const)
      const found = await issuesByKey(database, issuesOfProject, new Set(keys.flatMap(([, own]) => own)))
      const known = await linksOf(inside, batch)
      const links = keys.flatMap(([{ id, pull_request_key }, own]) =>
        own.flatMap((issue_key) =>
          (found.get(issue_key) ?? []).map((issue_id) => ({
            pull_request_id: id,
            issue_id,
            pull_request_key,
            issue_key,
          })),
        ),
      )
      const rows = links
        .filter((link) => !known.has(linkKey(link)))
        .map((link) => pullRequestIssues.row({ ...link, _raw_data_remark: REMARK }))
      await write(inside, rows)
      written += rows.length
    }
    return written
  })
}

function compile(pattern: unknown): RE2JS {
  if (typeof pattern !== 'string' || pattern === '')
    throw new UserError('prToIssueRegexp is empty: give the pattern that finds issue keys, for example #(\\d+)')
  try {
    return RE2JS.compile(pattern)
  } catch (error) {
    throw new UserError(`prToIssueRegexp ${JSON.stringify(pattern)} does not compile: ${messageOf(error)}`)
  }
}

/** Keys named by the first text that names any. */
export function keysIn(
  pattern: RE2JS,
  { title, description, head_ref }: Omit<PullRequest, 'id' | 'pull_request_key'>,
): string[] {
  for (const text of [title, description, head_ref]) {
    const matcher = pattern.matcher(text ?? '')
    const keys = new Set<string>()
    while (matcher.find()) keys.add((matcher.group() ?? '').replaceAll('#', '').trim())
    if (keys.size > 0) return [...keys]
  }
  return []
}

/** Pages by id, because a stream would hold the only connection of an outer transaction. */
async function* pullRequestsOf({ kysely }: Database, repos: Sql): AsyncGenerator<PullRequest[]> {
  for (let last = ''; ; ) {
    const { rows } = await sql<PullRequest>`select id, pull_request_key, title, description, head_ref
      from pull_requests where base_repo_id in (${repos}) and id > ${last} order by id limit ${sql.lit(BATCH)}`.execute(
      kysely,
    )
    if (rows.length > 0) yield rows
    if (rows.length < BATCH) return
    last = (rows.at(-1) as PullRequest).id
  }
}

async function issuesByKey(
  { kysely }: Database,
  ofProject: Sql,
  keys: ReadonlySet<string>,
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>()
  if (keys.size === 0) return found
  const { rows } = await sql<{ id: string; issue_key: string }>`select id, issue_key from issues
    where issue_key in (${sql.join([...keys])}) and id in (${ofProject}) order by id`.execute(kysely)
  for (const { id, issue_key } of rows) found.set(issue_key, [...(found.get(issue_key) ?? []), id])
  return found
}

interface Link {
  readonly pull_request_id: string
  readonly issue_id: string
}
const linkKey = ({ pull_request_id, issue_id }: Link) => `${pull_request_id}\n${issue_id}`

/** Links that the tool itself knows stay as they are. */
async function linksOf({ kysely }: Database, batch: readonly PullRequest[]): Promise<Set<string>> {
  const { rows } = await sql<Link>`select pull_request_id, issue_id from pull_request_issues
    where pull_request_id in (${sql.join(batch.map(({ id }) => id))})`.execute(kysely)
  return new Set(rows.map(linkKey))
}
