import type { RawRecord } from '../../database/table.ts'
import { bigint, boolean, indexed, key, type RowOf, string, text, timestamp } from '../../database/table.ts'
import { type codeHostRules, type HttpResponse, linkHeader, pluginKit } from '../../plugin-kit/index.ts'

export type Rules = ReturnType<typeof codeHostRules>

export interface RulesContext {
  readonly scopeConfig: Rules
}

const kit = pluginKit('gitlab')
export const { table } = kit

export const projects = table('projects', 'GitlabProject', {
  gitlab_id: key(bigint()),
  scope_config_id: bigint(),
  name: string(),
  description: text(),
  default_branch: string(),
  path_with_namespace: string(),
  web_url: string(),
  creator_id: bigint(),
  visibility: string(),
  open_issues_count: bigint(),
  star_count: bigint(),
  forked_from_project_id: bigint(),
  forked_from_project_web_url: string(),
  http_url_to_repo: text(),
  created_date: timestamp(),
  updated_date: timestamp(),
  archived: boolean(),
})
export type Project = RowOf<typeof projects>

/** Tables with a column for the project are filtered by it. Others join a table that has one. */
export const entity = kit.entityMaker<Project, Rules>({ scopeColumn: 'project_id', scopeKey: 'gitlab_id' })

/** Not all records contain their project, and jobs of old servers never do. */
export const projectId = (_record: unknown, { scope }: RawRecord): number => scope.gitlab_id
export const projectIdColumn = () => indexed(bigint(projectId))

/** A path below the project. The id finds a project even after it was moved. */
export const inProject = ({ gitlab_id }: Project, path: string): string => `/projects/${gitlab_id}/${path}`

/** https://docs.gitlab.com/api/rest/#pagination-response-headers: missing for more than 10,000 records. */
const total = ({ headers }: HttpResponse): number | undefined => {
  const counted = Number.parseInt(headers['x-total'] ?? '', 10)
  return Number.isNaN(counted) ? undefined : counted
}
/** Numbered pages and keyset pages: for both, GitLab gives the address of the next page. */
export const PAGE = linkHeader(100, { total })
/** A record that changes while the list is read moves to the front, and pushes no other record off a page that is still to come. */
export const BY_CHANGE = { order_by: 'updated_at', sort: 'desc' }
export const changedSince = (since: Date) => ({ updated_after: since.toISOString() })
/** Lists that can continue after a record: https://docs.gitlab.com/api/rest/#keyset-based-pagination */
export const KEYSET = { pagination: 'keyset', order_by: 'id', sort: 'desc' }

/** People as issues and merge requests name them. */
export const person = {
  name: string(),
  username: string(),
  state: string(),
  avatar_url: string(),
  web_url: string(),
}

// https://docs.gitlab.com/ci/pipelines/ and https://docs.gitlab.com/ci/jobs/: statuses of pipelines and jobs.
export const RESULT = { SUCCESS: ['success', 'completed'], FAILURE: ['failed', 'canceled'] }
const IN_PROGRESS = ['running', 'waiting_for_resource', 'pending', 'preparing']
export const PIPELINE_STATUS = { DONE: [...RESULT.SUCCESS, ...RESULT.FAILURE], IN_PROGRESS }
/** As in DevLake, the result of a cancelled job is FAILURE, but its status is not DONE. */
export const JOB_STATUS = { DONE: [...RESULT.SUCCESS, 'failed'], IN_PROGRESS }
/** Statuses that may still change by themselves. */
export const UNFINISHED = [...IN_PROGRESS, 'created', 'scheduled', 'canceling']
