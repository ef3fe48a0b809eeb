import type { RawRecord } from '../../database/table.ts'
import { bigint, indexed, key, type RowOf, string, text, timestamp } from '../../database/table.ts'
import type { AnyExtractContext } from '../../plugin-kit/index.ts'
import { byTime, type HttpRequest, linkHeader, pluginKit } from '../../plugin-kit/index.ts'
import type { Rules } from './rules.ts'

const kit = pluginKit('github')

export const repos = kit.table('repos', 'GithubRepo', {
  github_id: key(bigint()),
  scope_config_id: bigint(),
  name: string(),
  full_name: string(),
  html_url: string(),
  description: text(),
  owner_id: bigint(),
  language: string(),
  parent_github_id: bigint(),
  parent_html_url: text(),
  clone_url: string(),
  created_date: timestamp(),
  updated_date: timestamp(),
})
export type Repo = RowOf<typeof repos>
export interface RulesContext {
  readonly scopeConfig: Rules
}
export const table = kit.tableMaker<Repo, Rules>()

/** Tables with a column for the repository are filtered by it. Others join a table that has one. */
export const entity = kit.entityMaker<Repo, Rules>({ scopeColumn: 'repo_id', scopeKey: 'github_id' })
/** Deployments and releases use node ids, and have the repository's id in `github_id`, where other tables have the id of the row. */
export const WITH_NODE_IDS = { scopeColumn: 'github_id' }

/** Most records do not contain their repository. */
export const repoId = (_record: unknown, { scope }: { scope: Repo }): number => scope.github_id
export const repoIdColumn = () => indexed(bigint(repoId))

/** People who were seen in a repository. Their profiles are collected from this list. */
export const repoAccounts = table('repo_accounts', 'GithubRepoAccount', {
  account_id: key(bigint('id')),
  repo_github_id: key(bigint(repoId)),
  login: string(),
})

/** Returns one row for each person of a record. Deleted accounts are null, and get none. */
export const peopleIn = (people: readonly RawRecord[], { read }: Pick<AnyExtractContext, 'read'>) =>
  people.filter((person) => person?.id).map((person) => read(repoAccounts, person))

/** In REST, this account replaces those that were deleted. GraphQL returns null for them. */
const GHOST = 'ghost'
/** Removes deleted accounts from these fields of a record, because nothing is known about them. */
export function withoutGhosts<R extends Record<string, RawRecord>>(record: R, ...places: string[]): R {
  const ghosts = places.filter((place) => record[place]?.login === GHOST)
  return ghosts.length === 0 ? record : { ...record, ...Object.fromEntries(ghosts.map((place) => [place, null])) }
}

const PAGE_SIZE = 100
export const REST_PAGE = linkHeader(PAGE_SIZE)
/** Numbered pages end at 40,000 records without notice. */
export const LONG_LIST = { mostPages: 40_000 / PAGE_SIZE }
const timeOf = ({ updated_at }: { updated_at: string }) => updated_at
const oldestFirst = ({ query, ...request }: HttpRequest) => ({
  ...request,
  query: { ...query, sort: 'updated', direction: 'asc' },
})
const changedSince = (size: number) => byTime({ size, param: 'since', timeOf })
/** For lists ordered by time of change that also can be filtered by it. */
export const LONG_LIST_BY_CHANGE = {
  ...LONG_LIST,
  older: {
    timeOf,
    request: oldestFirst,
    paging: changedSince(PAGE_SIZE),
  },
}
/** If a run is killed, it loses the answers for one whole page of names, so pages are small. */
const NAMES_AT_ONCE = 20
/** Pull requests cannot be filtered by time. Issues can, and their list includes pull requests, each of which then needs one request. */
export const LONG_LIST_OF_PULL_REQUESTS = {
  ...LONG_LIST,
  older: {
    timeOf,
    request: (request: HttpRequest) => oldestFirst({ ...request, path: request.path.replace(/pulls$/, 'issues') }),
    paging: changedSince(NAMES_AT_ONCE),
  },
  named: ({ number, pull_request }: RawRecord, { scope }: { scope: Repo }) =>
    pull_request ? { path: inRepo(scope, `pulls/${number}`) } : null,
}
/** Returns a path below the repository. */
export const inRepo = (scope: Repo, path: string): string => `/repos/${scope.full_name}/${path}`
/** Checks a record that contains the id of its repository. A scope that was added without an id is known only by its name. */
export const isOfRepo = (id: unknown, { github_id }: Repo): boolean =>
  !id || !github_id || String(id) === String(github_id)
/** Issues contain only the name, which may be a newer one. GitHub redirects from the old name to an address with the id. */
export const isAtRepo = (repositoryUrl: string | undefined, { github_id, full_name }: Repo, address: string): boolean =>
  !repositoryUrl ||
  URL.parse(address)?.pathname.includes(`/repositories/${github_id}/`) === true ||
  repositoryUrl.toLowerCase().endsWith(`/repos/${full_name.toLowerCase()}`)
/** People identify issues and pull requests by number. Their ids may differ on a server that was restored or imported. */
export const BY_NUMBER = { path: 'number', column: 'number' }

/** Returns the address that REST would give for a record of which GraphQL returns only the web page. */
export const addressOf = ({ connection }: { connection: { endpoint: string } }, path: string): string =>
  connection.endpoint.replace(/\/$/, '') + path

export const labelNames = (record: RawRecord): string[] =>
  (record.labels ?? []).map(({ name }: { name: string }) => name)

/** The number at the end of an API address such as `…/issues/12`; 0 when there is none. */
export const numberAtEnd = (url: string | null | undefined): number => Number(/\/(\d+)$/.exec(url ?? '')?.[1] ?? 0)

/** Cuts off fractions and does not round. */
export const wholeSeconds = (start: Date | null, end: Date | null): number =>
  start && end ? Math.trunc((end.getTime() - start.getTime()) / 1000) : 0

/** https://docs.github.com/en/rest/checks/runs: conclusions and statuses of runs and jobs. */
export const RESULT = { SUCCESS: ['success'], FAILURE: ['failure', 'cancelled', 'timed_out', 'startup_failure'] }
export const STATUS = {
  IN_PROGRESS: ['in_progress', 'queued', 'waiting', 'pending'],
  DONE: ['completed', 'success', 'failure', 'cancelled', 'timed_out', 'startup_failure'],
}
