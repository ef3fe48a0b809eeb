/** A generated organisation for the four-keys benchmark: all projects are alike, with one repository, board and scope each. */
import { createHash } from 'node:crypto'
import type { Database } from '../../src/database/database.ts'
import type { Cell } from '../../src/database/fit.ts'
import { wholeRows } from '../../src/database/rows.ts'
import type { Table, TableRow } from '../../src/database/table.ts'
import { stampRow } from '../../src/database/write.ts'
import { commitParents, commits, repoCommits, repos } from '../../src/domain/code.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdPipelineCommits, cicdPipelines, cicdScopes, cicdTasks } from '../../src/domain/devops.ts'
import { pullRequestComments, pullRequestCommits, pullRequests } from '../../src/domain/pull-requests.ts'
import { boardIssues, boards, issues } from '../../src/domain/ticket.ts'

export const PER_PROJECT = { pullRequests: 2000, commitsPerPullRequest: 10, deployments: 400, incidents: 100 }
const START = Date.UTC(2025, 0, 1)
const HOUR = 3_600_000
const DAY = 24 * HOUR
/** The time between two merges; the last pull request is merged a year after the start. */
const PACE = (365 * DAY) / PER_PROJECT.pullRequests

export const projectName = (index: number) => `project-${index}`
const sha = (...parts: (string | number)[]) => createHash('sha1').update(parts.join(':')).digest('hex')
const at = (time: number) => new Date(Math.round(time))

function* rowsOf(project: number): Generator<TableRow> {
  const scope = `bench:Scope:${project}`
  const raw = { _raw_data_params: `{"Scope":${project}}`, _raw_data_table: '_raw_bench' }
  yield repos.row({ id: scope, name: `repo ${project}` })
  yield boards.row({ id: scope, name: `board ${project}` })
  yield cicdScopes.row({ id: scope, name: `scope ${project}` })
  for (const table of ['repos', 'boards', 'cicd_scopes']) {
    yield projectMapping.row({ project_name: projectName(project), table, row_id: scope })
  }
  let main = ''
  const every = PER_PROJECT.pullRequests / PER_PROJECT.deployments
  for (let number = 1; number <= PER_PROJECT.pullRequests; number++) {
    const merged = START + number * PACE
    const id = `bench:PullRequest:${project}:${number}`
    let tip = main
    for (let index = 1; index < PER_PROJECT.commitsPerPullRequest; index++) {
      const own = sha(project, number, index)
      const authored_date = at(merged - DAY + index * HOUR)
      yield commits.row({
        sha: own,
        authored_date,
        committed_date: authored_date,
        author_email: 'dev@bench',
        message: 'Work',
        ...raw,
      })
      yield repoCommits.row({ repo_id: scope, commit_sha: own, ...raw })
      if (tip) yield commitParents.row({ commit_sha: own, parent_commit_sha: tip, ...raw })
      yield pullRequestCommits.row({
        pull_request_id: id,
        commit_sha: own,
        commit_authored_date: authored_date,
        ...raw,
      })
      tip = own
    }
    const merge = sha(project, number, 'merge')
    const authored_date = at(merged)
    yield commits.row({
      sha: merge,
      authored_date,
      committed_date: authored_date,
      author_email: 'dev@bench',
      message: `Merge #${number}`,
      ...raw,
    })
    yield repoCommits.row({ repo_id: scope, commit_sha: merge, ...raw })
    if (main) yield commitParents.row({ commit_sha: merge, parent_commit_sha: main, ...raw })
    yield commitParents.row({ commit_sha: merge, parent_commit_sha: tip, ...raw })
    main = merge
    yield pullRequests.row({
      id,
      base_repo_id: scope,
      head_repo_id: scope,
      status: 'MERGED',
      title: `Change ${number}`,
      author_id: `bench:Account:${number % 20}`,
      author_name: `dev ${number % 20}`,
      pull_request_key: number,
      created_date: at(merged - 10 * HOUR),
      merged_date: at(merged),
      merge_commit_sha: merge,
      url: `https://code.example/${project}/${number}`,
      ...raw,
    })
    for (let index = 1; index <= 3; index++) {
      yield pullRequestComments.row({
        id: `${id}:${index}`,
        pull_request_id: id,
        account_id: `bench:Account:${(number + index) % 20}`,
        created_date: at(merged - 9 * HOUR + index * HOUR),
        type: 'NORMAL',
        ...raw,
      })
    }
    if (number % every === 0) yield* deployment(project, number / every, merge, merged + 2 * HOUR)
  }
  for (let number = 1; number <= PER_PROJECT.incidents * 4; number++) {
    const id = `bench:Issue:${project}:${number}`
    const created = START + (number / (PER_PROJECT.incidents * 4)) * 365 * DAY
    yield issues.row({
      id,
      issue_key: `${number}`,
      title: `Issue ${number}`,
      type: number % 4 === 0 ? 'INCIDENT' : 'BUG',
      status: 'DONE',
      created_date: at(created),
      resolution_date: at(created + 5 * HOUR),
      lead_time_minutes: 300,
      ...raw,
    })
    yield boardIssues.row({ board_id: scope, issue_id: id, ...raw })
  }
}

function* deployment(project: number, number: number, commit: string, started: number): Generator<TableRow> {
  const scope = `bench:Scope:${project}`
  const id = `bench:Pipeline:${project}:${number}`
  const result = number % 20 === 0 ? 'FAILURE' : 'SUCCESS'
  const dates = {
    created_date: at(started),
    started_date: at(started),
    finished_date: at(started + HOUR),
    duration_sec: 3600,
  }
  yield cicdPipelines.row({ id, name: 'deploy', cicd_scope_id: scope, result, status: 'DONE', ...dates })
  yield cicdPipelineCommits.row({
    pipeline_id: id,
    commit_sha: commit,
    branch: 'main',
    repo_id: scope,
    repo_url: `https://code.example/${project}`,
  })
  for (const [index, name] of ['build', 'test', 'deploy'].entries()) {
    const deploys = index === 2
    yield cicdTasks.row({
      id: `${id}:${index}`,
      name,
      pipeline_id: id,
      cicd_scope_id: scope,
      result,
      status: 'DONE',
      type: deploys ? 'DEPLOYMENT' : '',
      environment: deploys ? 'PRODUCTION' : '',
      ...dates,
    })
  }
}

const BATCH = 5000

export async function generate(database: Database, projects: number): Promise<void> {
  const batches = new Map<Table<any>, Cell[][]>()
  const stamp = new Date()
  const send = async (table: Table<any>) => {
    const rows = batches.get(table) ?? []
    batches.delete(table)
    if (rows.length > 0) await database.sendRows(wholeRows(table, rows), 'insert')
  }
  for (let project = 0; project < projects; project++) {
    for (const row of rowsOf(project)) {
      stampRow(row, stamp)
      const batch = batches.get(row.table) ?? []
      batches.set(row.table, batch)
      batch.push(row.cells)
      if (batch.length === BATCH) await send(row.table)
    }
  }
  for (const table of [...batches.keys()]) await send(table)
}
