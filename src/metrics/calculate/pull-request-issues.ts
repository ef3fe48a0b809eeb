import { sql } from 'kysely'
import { compilePattern, type Pattern } from '../../basics/user-patterns.ts'
import type { Database } from '../../database/database.ts'
import { among, readByKeys } from '../../database/pieces.ts'
import type { AnyTable } from '../../database/table.ts'
import { bigint, defineTable, indexed, key, string } from '../../database/table.ts'
import { pullRequestIssues } from '../../domain/crossdomain.ts'
import { UserError } from '../../errors.ts'
import {
  type Calculation,
  type CalculationRun,
  type Forgetting,
  mapped,
  noOrigin,
  projectOf,
  type Sql,
} from './calculation.ts'
import { fill, inTurn, remove, replace, replaceRows, writeInto } from './results.ts'

/** Projects that share a repository may have different patterns. A link is kept as long as one of them finds it. */
export const linkedIssues = defineTable(
  '_weir_linked_issues',
  {
    project_name: key(indexed(string())),
    pull_request_id: key(string()),
    issue_id: key(string()),
    pull_request_key: bigint(),
    issue_key: string(),
  },
  {
    meaning: 'Issues that a pull request names by the pattern of a project.',
    keyOrder: ['pull_request_id', 'issue_id', 'project_name'],
  },
)

/** Marks the links that were made here, so that they differ from those that a tool reported. */
const REMARK = 'pull_requests,'
const isMadeHere = sql`coalesce(_raw_data_table, '') = '' and _raw_data_remark like ${`%${REMARK}%`}`
const LINKS = sql.table(linkedIssues.name)
const BATCH = 1000

interface PullRequest {
  readonly id: string
  readonly pull_request_key: number | null
  readonly title: string | null
  readonly description: string | null
  readonly head_ref: string | null
}

/** Links pull requests to the issues of the project whose keys their title, description or branch names. */
export const linkPrToIssue: Calculation = (run) => {
  const project = projectOf(run.options)
  const pattern = compile(run.options.prToIssueRegexp)
  const requests = sql`select id from pull_requests where base_repo_id in (${mapped('repos', project)})`
  return inTurn(run.database, pullRequestIssues.name, async (inside) => {
    const hasLeft = sql`pull_request_id not in (${requests})`
    await removeLinks(inside, sql`project_name = ${project} and ${hasLeft}`)
    await leaveToOthers(inside, project, requests)
    const found = await replaceRows(inside, linkedIssues, [sql`project_name = ${project}`], (table) =>
      findLinks({ ...run, database: inside }, { project, pattern, table }),
    )
    await replace(inside, {
      table: pullRequestIssues,
      within: [sql`${isMadeHere} and pull_request_id in (${requests})`],
      columns: {
        pull_request_id: sql`l.pull_request_id`,
        issue_id: sql`l.issue_id`,
        pull_request_key: sql`max(l.pull_request_key)`,
        issue_key: sql`max(l.issue_key)`,
        ...noOrigin,
        _raw_data_remark: sql`${REMARK}`,
      },
      // Links that the tool itself reported stay as they are.
      from: sql`from ${LINKS} l where l.pull_request_id in (${requests}) and not exists (
        select 1 from pull_request_issues k where k.pull_request_id = l.pull_request_id and k.issue_id = l.issue_id
        and k._raw_data_table <> '') group by l.pull_request_id, l.issue_id`,
    })
    return found
  })
}

/**
 * Links that came with a database of DevLake belong to no project's pattern yet. Those that another project with this repository
 * and a board of the issue may have found are given to that project, until its linker runs here and decides.
 */
const leaveToOthers = (inside: Database, project: string, requests: Sql): Promise<number> =>
  fill(inside, {
    table: linkedIssues,
    columns: {
      project_name: sql`repo.project_name`,
      pull_request_id: sql`k.pull_request_id`,
      issue_id: sql`k.issue_id`,
      pull_request_key: sql`max(k.pull_request_key)`,
      issue_key: sql`max(k.issue_key)`,
    },
    from: sql`from (select * from pull_request_issues where ${isMadeHere} and pull_request_id in (${requests})) k
      inner join pull_requests pr on pr.id = k.pull_request_id
      inner join project_mapping repo on repo.row_id = pr.base_repo_id and repo.${sql.id('table')} = 'repos'
        and repo.project_name <> ${project}
      inner join board_issues held on held.issue_id = k.issue_id
      inner join project_mapping board on board.row_id = held.board_id and board.${sql.id('table')} = 'boards'
        and board.project_name = repo.project_name
      where not exists (select 1 from ${LINKS} l where l.pull_request_id = k.pull_request_id and l.issue_id = k.issue_id)
      group by repo.project_name, k.pull_request_id, k.issue_id`,
  })

export const forgetLinks: Forgetting = (inside, project) => removeLinks(inside, sql`project_name = ${project}`)

/** Removes the links that fulfil the condition, and those of projects that no longer exist. */
async function removeLinks(inside: Database, condition: Sql): Promise<number> {
  const isLeft = sql`(${condition} or project_name not in (select project_name from project_mapping))`
  const links = (which: Sql) => sql`select 1 from (select * from ${LINKS} where ${which}) l
    where l.pull_request_id = pull_request_issues.pull_request_id and l.issue_id = pull_request_issues.issue_id`
  await remove(
    inside,
    pullRequestIssues,
    sql`${isMadeHere} and exists (${links(isLeft)}) and not exists (${links(sql`not ${isLeft}`)})`,
  )
  return remove(inside, linkedIssues, isLeft)
}

/** An empty pattern finds nothing, so links that an earlier pattern found are removed. */
function compile(pattern: unknown): Pattern | null {
  if (pattern === '') return null
  if (typeof pattern !== 'string')
    throw new UserError('prToIssueRegexp is missing: give the pattern that finds issue keys, for example #(\\d+)')
  return compilePattern(pattern, 'prToIssueRegexp')
}

/** Returns the keys in the first text that contains any. */
function keysIn(
  pattern: Pattern,
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

interface Search {
  readonly project: string
  readonly pattern: Pattern | null
  readonly table: AnyTable
}

async function findLinks({ database, signal }: CalculationRun, { project, pattern, table }: Search): Promise<number> {
  if (!pattern) return 0
  let found = 0
  for await (const batch of pullRequestsOf(database, mapped('repos', project))) {
    signal.throwIfAborted()
    const named = batch.map((each) => [each, keysIn(pattern, each)] as const)
    const issues = await issuesByKey(database, project, new Set(named.flatMap(([, keys]) => keys)))
    const rows = named.flatMap(([{ id, pull_request_key }, keys]) =>
      keys.flatMap((issue_key) =>
        (issues.get(issue_key) ?? []).map((issue) =>
          linkedIssues.row({
            project_name: project,
            pull_request_id: id,
            issue_id: issue.id,
            pull_request_key,
            issue_key,
          }),
        ),
      ),
    )
    found += await writeInto(database, table, rows)
  }
  return found
}

/** Reads pages by id, because a stream would occupy the only connection of the transaction. */
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

interface Issue {
  readonly id: string
  readonly issue_key: string
}

async function issuesByKey(
  { kysely }: Database,
  project: string,
  keys: ReadonlySet<string>,
): Promise<Map<string, Issue[]>> {
  const ofProject = sql`select issue_id from board_issues where board_id in (${mapped('boards', project)})`
  const rows = await readByKeys(keys, async (piece) => {
    const found = await sql<Issue>`select id, issue_key from issues
      where ${among(sql`issue_key`, piece)} and id in (${ofProject}) order by id`.execute(kysely)
    return found.rows
  })
  return Map.groupBy(rows, ({ issue_key }) => issue_key)
}
