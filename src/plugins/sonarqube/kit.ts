import { createHash } from 'node:crypto'
import { bigint, key, type RowOf, string, timestamp } from '../../database/table.ts'
import { pageNumber, pluginKit } from '../../plugin-kit/index.ts'
import type { codeBlockIds } from './code-block-ids.ts'

const kit = pluginKit('sonarqube')

export const projects = kit.table('projects', 'SonarqubeProject', {
  project_key: key(string(500)),
  scope_config_id: bigint(() => 0),
  name: string(500),
  qualifier: string(),
  visibility: string(64),
  last_analysis_date: timestamp(),
  revision: string(128),
})
export type Project = RowOf<typeof projects>

/** The state of a task. SonarQube has no rules. */
export interface TaskState {
  readonly blockIdOf: ReturnType<typeof codeBlockIds>
}
/** Properties of the server that collectors need. */
export interface Server {
  /** The parameter that names the projects of issues: https://next.sonarqube.com/sonarqube/web_api/api/issues/search */
  readonly projectParam: 'components' | 'componentKeys'
}

export const table = kit.tableMaker<Project, TaskState>()
export const entity = kit.entityMaker<Project, TaskState, Server>({
  scopeColumn: 'project_key',
  scopeKey: 'project_key',
})

/** The largest number of records that SonarQube returns from one list, whatever the page size. */
export const CAP = 10_000
export const PAGE_SIZE = 500

export const inPages = pageNumber({
  size: PAGE_SIZE,
  pageParam: 'p',
  sizeParam: 'ps',
  total: ({ body }) => body.paging?.total,
})

/** Tasks of the connection as a whole have no project. */
export const hasProject = ({ scope }: { readonly scope: Project }): boolean => scope.project_key !== ''

const LONGEST_KEY = 200
/** Shortens a key, because ids have room for only 255 characters. The end of a longer key is replaced by a hash. */
export const shortKey = (name: string, longest = LONGEST_KEY): string =>
  name.length <= longest ? name : `${name.slice(0, longest - 65)}~${createHash('sha256').update(name).digest('hex')}`
