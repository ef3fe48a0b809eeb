import type { RawRecord } from '../../database/table.ts'
import { bigint, boolean, key, type RowOf, string, text } from '../../database/table.ts'
import { type codeHostRules, cursor, type HttpRequest, offset, pluginKit } from '../../plugin-kit/index.ts'

export type Rules = ReturnType<typeof codeHostRules>

const kit = pluginKit('azuredevops_go')

/** Repositories of Azure DevOps, repositories at other hosts that it builds, and the boards of projects. `type` distinguishes them. */
export const repos = kit.table('repos', 'AzuredevopsRepo', {
  scope_config_id: bigint(),
  organization_id: text(),
  project_id: text(),
  id: key(string(191)),
  type: string(100),
  name: string(100),
  url: string(),
  remote_url: string(),
  external_id: string(),
  is_fork: boolean(),
  is_private: boolean(),
})
export type Repo = RowOf<typeof repos>

export const [NATIVE, BOARD] = ['TfsGit', 'Board'] as const
export const isBoard = ({ type }: Pick<Repo, 'type'>): boolean => type === BOARD
/** Rows that DevLake wrote may lack the type, and are native. */
export const isNative = ({ type }: Pick<Repo, 'type'>): boolean => type === NATIVE || !type
export const builds = ({ scope }: { readonly scope: Repo }): boolean => !isBoard(scope)
export const reviews = ({ scope }: { readonly scope: Repo }): boolean => isNative(scope)
export const plans = ({ scope }: { readonly scope: Repo }): boolean => isBoard(scope)

export const table = kit.tableMaker<Repo, Rules>()
export const entity = kit.entityMaker<Repo, Rules>({ scopeColumn: 'repository_id', scopeKey: 'id' })
/** Tables of boards, which are scopes too. */
export const OF_BOARD = { scopeColumn: 'board_id' }
export const repositoryId = (_record: unknown, { scope }: RawRecord): string => scope.id
/** DevLake's raw rows use several names for the only value of their input. */
export const inputId = (_record: unknown, { input }: RawRecord): number =>
  Number(input.AzuredevopsId ?? Object.values(input)[0])

/** A version that Azure DevOps Server 2020 and everything newer understands. */
const VERSION = '6.0'
type Query = NonNullable<HttpRequest['query']>
export const versioned = (path: string, query: Query = {}, version = VERSION) => ({
  path,
  query: { 'api-version': version, ...query },
})
export const preview = (path: string, query: Query = {}) => versioned(path, query, `${VERSION}-preview`)

type Place = Pick<Repo, 'organization_id' | 'project_id'>
const part = encodeURIComponent
export const inOrganization = (organization: string, path: string) => `/${part(organization)}/_apis/${path}`
export const inProject = ({ organization_id, project_id }: Place, path: string) =>
  `/${part(organization_id)}/${part(project_id)}/_apis/${path}`
export const inRepo = (scope: Repo, path: string) =>
  inProject(scope, `git/repositories/${part(scope.id)}${path && `/${path}`}`)

const CLOUD = 'dev.azure.com'
/** In the cloud, some services have their own hosts. A Server answers all requests at one host. */
export const onHost = (endpoint: string, host: 'vsrm' | 'vssps', path: string): string =>
  isCloud(endpoint) ? `https://${host}.${CLOUD}${path}` : path
export const isCloud = (endpoint: string): boolean => URL.parse(endpoint)?.host === CLOUD

/** The position at which a list continues is in a header. */
export const byToken = (size: number, sizeParam = '$top') =>
  cursor({
    size,
    sizeParam,
    param: 'continuationToken',
    next: (_body, { headers }) => headers['x-ms-continuationtoken'],
  })
/** A server may use smaller pages than requested, and does not tell the number of records. */
export const SKIP = offset({ size: 100, offsetParam: '$skip', sizeParam: '$top', endsOn: 'empty' })

/** Returns whole seconds, as DevLake counts them. */
export const secondsBetween = (start: Date | null, end: Date | null): number =>
  start && end ? Math.trunc((end.getTime() - start.getTime()) / 1000) : 0

// https://learn.microsoft.com/rest/api/azure/devops/distributedtask/: results of records of timelines and environments.
export const TASK_RESULT = {
  SUCCESS: ['succeeded', 'succeededWithIssues'],
  FAILURE: ['abandoned', 'canceled', 'failed', 'skipped'],
}
