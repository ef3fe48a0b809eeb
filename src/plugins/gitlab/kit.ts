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

/** Tables that carry the id of their project are read by it; others join one that does. */
export const entity = kit.entityMaker<Project, Rules>(({ columns }, { gitlab_id }) =>
  'project_id' in columns ? { project_id: gitlab_id } : {},
)

/** Not all records name their project, and jobs of old servers none. */
export const projectId = (_record: unknown, { scope }: RawRecord): number => scope.gitlab_id
export const projectIdColumn = () => indexed(bigint(projectId))

/** Path below the project; by its id it is found wherever it was moved. */
export const inProject = ({ gitlab_id }: Project, path: string): string => `/projects/${gitlab_id}/${path}`

/** https://docs.gitlab.com/api/rest/#pagination-response-headers: left out where there are more than 10,000. */
const total = ({ headers }: HttpResponse): number | undefined => {
  const counted = Number.parseInt(headers['x-total'] ?? '', 10)
  return Number.isNaN(counted) ? undefined : counted
}
/** Numbered pages, and those that continue from a record: GitLab gives the address of the next one of either. */
export const PAGE = linkHeader(100, { total })
/** What is changed meanwhile goes to the front, and pushes nothing off a page that is still to come. */
export const BY_CHANGE = { order_by: 'updated_at', sort: 'desc' }
export const changedSince = (since: Date) => ({ updated_after: since.toISOString() })
/** Lists that can be read from a record on: https://docs.gitlab.com/api/rest/#keyset-based-pagination */
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
/** Of a job that was canceled DevLake says FAILURE, but not that it is done. */
export const JOB_STATUS = { DONE: [...RESULT.SUCCESS, 'failed'], IN_PROGRESS }
/** What may still become something else by itself. */
export const UNFINISHED = [...IN_PROGRESS, 'created', 'scheduled', 'canceling']
