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

/** Tables that carry the id of their repository are read by it; others join one that does. */
export const entity = kit.entityMaker<Repo, Rules>(({ columns }, { github_id }) => {
  if ('repo_id' in columns) return { repo_id: github_id }
  // Deployments and releases go by node ids, and have the repository's id where others have their own.
  return 'database_id' in columns ? { github_id } : {}
})

/** Most records do not name their repository. */
export const repoId = (_record: unknown, { scope }: { scope: Repo }): number => scope.github_id
export const repoIdColumn = () => indexed(bigint(repoId))

/** Who was seen in a repository; their profiles are asked for by this list. */
export const repoAccounts = table('repo_accounts', 'GithubRepoAccount', {
  account_id: key(bigint('id')),
  repo_github_id: key(bigint(repoId)),
  login: string(),
})

/** One row for each person of a record; deleted accounts are null and have none. */
export const peopleIn = (people: readonly RawRecord[], { read }: Pick<AnyExtractContext, 'read'>) =>
  people.filter((person) => person?.id).map((person) => read(repoAccounts, person))

/** REST lets this account stand for those that were deleted; GraphQL has null. */
const GHOST = 'ghost'
/** A record without deleted accounts in these places: nothing can be said of them. */
export function withoutGhosts<R extends Record<string, RawRecord>>(record: R, ...places: string[]): R {
  const ghosts = places.filter((place) => record[place]?.login === GHOST)
  return ghosts.length === 0 ? record : { ...record, ...Object.fromEntries(ghosts.map((place) => [place, null])) }
}

const PAGE_SIZE = 100
export const REST_PAGE = linkHeader(PAGE_SIZE)
/** Numbered pages end at 40,000 records, and nothing says so. */
export const LONG_LIST = { mostPages: 40_000 / PAGE_SIZE }
const timeOf = ({ updated_at }: { updated_at: string }) => updated_at
const oldestFirst = ({ query, ...request }: HttpRequest) => ({
  ...request,
  query: { ...query, sort: 'updated', direction: 'asc' },
})
const changedSince = (size: number) => byTime({ size, param: 'since', timeOf })
/** For lists by time of change that can also be asked for by it. */
export const LONG_LIST_BY_CHANGE = {
  ...LONG_LIST,
  older: {
    timeOf,
    request: oldestFirst,
    paging: changedSince(PAGE_SIZE),
  },
}
/** A kill loses the answers about a whole page of names. */
const NAMES_AT_ONCE = 20
/** Pull requests cannot be asked for by time, but issues can, and they list pull requests too: each costs a request. */
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
/** Path below the repository. */
export const inRepo = (scope: Repo, path: string): string => `/repos/${scope.full_name}/${path}`
/** Where a record tells the id of its repository. A scope that was added without one is known by its name alone. */
export const isOfRepo = (id: unknown, { github_id }: Repo): boolean =>
  !id || !github_id || String(id) === String(github_id)
/** Issues tell only the name, which may be a newer one: GitHub redirects from the old one to an address with the id. */
export const isAtRepo = (repositoryUrl: string | undefined, { github_id, full_name }: Repo, address: string): boolean =>
  !repositoryUrl ||
  URL.parse(address)?.pathname.includes(`/repositories/${github_id}/`) === true ||
  repositoryUrl.toLowerCase().endsWith(`/repos/${full_name.toLowerCase()}`)
/** By it people know issues and pull requests; ids of a server that was restored or imported may be others. */
export const BY_NUMBER = { path: 'number', column: 'number' }

/** The address that REST gives for what GraphQL only tells the page of. */
export const addressOf = ({ connection }: { connection: { endpoint: string } }, path: string): string =>
  connection.endpoint.replace(/\/$/, '') + path

/** Labels of a record, by name. */
export const labelNames = (record: RawRecord): string[] =>
  (record.labels ?? []).map(({ name }: { name: string }) => name)

/** The number at the end of an API address such as `…/issues/12`; 0 when there is none. */
export const numberAtEnd = (url: string | null | undefined): number => Number(/\/(\d+)$/.exec(url ?? '')?.[1] ?? 0)

/** Cut, not rounded. */
export const wholeSeconds = (start: Date | null, end: Date | null): number =>
  start && end ? Math.trunc((end.getTime() - start.getTime()) / 1000) : 0

/** https://docs.github.com/en/rest/checks/runs: conclusions and statuses of runs and jobs. */
export const RESULT = { SUCCESS: ['success'], FAILURE: ['failure', 'cancelled', 'timed_out', 'startup_failure'] }
export const STATUS = {
  IN_PROGRESS: ['in_progress', 'queued', 'waiting', 'pending'],
  DONE: ['completed', 'success', 'failure', 'cancelled', 'timed_out', 'startup_failure'],
}
