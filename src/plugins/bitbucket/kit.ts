import type { RawRecord, TableRow } from '../../database/table.ts'
import { bigint, boolean, key, type RowOf, string, text, timestamp } from '../../database/table.ts'
import { type AnyExtractContext, type HttpResponse, nextUrl, type Paging, pluginKit } from '../../plugin-kit/index.ts'
import type { rules } from './rules.ts'

const kit = pluginKit('bitbucket')
export const { table } = kit

export const repos = table('repos', 'BitbucketRepo', {
  bitbucket_id: key(string()),
  scope_config_id: bigint(() => 0),
  name: string(),
  html_url: string(),
  description: text(),
  owner: text(),
  language: string(),
  clone_url: string(),
  created_date: timestamp(),
  updated_date: timestamp(),
})
type Repo = RowOf<typeof repos>

export const paramsOf = (connectionId: number, { bitbucket_id }: Pick<Repo, 'bitbucket_id'>) => ({
  ConnectionId: connectionId,
  FullName: bitbucket_id,
})

type Rules = ReturnType<typeof rules>
export interface RulesContext {
  readonly scopeConfig: Rules
}
/** Tables with a column for the repository are filtered by it. Others join a table that has one. */
export const entity = kit.entityMaker<Repo, Rules>({ scopeColumn: 'repo_id', scopeKey: 'bitbucket_id' })

export const repoId = (_record: unknown, { scope }: RawRecord): string => scope.bitbucket_id
/** Returns a path below the repository. */
export const inRepo = ({ bitbucket_id }: Repo, path: string): string => `repositories/${bitbucket_id}/${path}`

/**
 * Encodes a uuid, which contains braces, for a path. The paths of lists of pipelines and deployments end with a slash, because
 * they are served by another service, which insists on it.
 */
export const braced = (uuid: string): string => encodeURIComponent(uuid)

const total = ({ body }: HttpResponse): number | undefined => body?.size
/** https://developer.atlassian.com/cloud/bitbucket/rest/intro/#pagination: not every list contains its size. */
export const pages = (size: number): Paging =>
  nextUrl({
    size,
    sizeParam: 'pagelen',
    total,
    next: ({ body }) => body?.next,
    last({ body, url }) {
      if (!body?.size || !body.pagelen) return undefined
      const address = new URL(url)
      address.searchParams.set('page', String(Math.ceil(body.size / body.pagelen)))
      return address.href
    },
  })
export const values = (body: RawRecord): readonly unknown[] => body.values

export const changedSince = (since: Date) => ({ q: `updated_on >= ${since.toISOString()}` })
/** A record that changes while the list is read moves to the front, and pushes no other record off a page that is still to come. */
export const BY_CHANGE = { sort: '-updated_on' }

/** People have no list of their own. They are read from other records, in which people who have left Bitbucket are missing. */
export const accounts = table('accounts', 'BitbucketAccount', {
  account_id: key(string()),
  user_name: string('username'),
  account_status: string(),
  display_name: string(),
  avatar_url: string('links.avatar.href'),
  html_url: string('links.html.href'),
  uuid: string(),
  has2_fa_enabled: boolean('has_2fa_enabled'),
})
export function* peopleIn(
  people: readonly RawRecord[],
  { read }: Pick<AnyExtractContext, 'read'>,
): Generator<TableRow, void> {
  for (const person of people) if (person?.account_id) yield read(accounts, person)
}

// https://developer.atlassian.com/cloud/bitbucket/rest/api-group-pipelines/: states of pipelines and steps.
export const RESULT = { SUCCESS: ['SUCCESSFUL', 'COMPLETED', 'PASSED'], FAILURE: ['FAILED', 'ERROR', 'STOPPED'] }
export const STATUS = {
  DONE: [...RESULT.SUCCESS, ...RESULT.FAILURE, 'HALTED'],
  IN_PROGRESS: ['IN_PROGRESS', 'PENDING', 'READY', 'RUNNING', 'PAUSED', 'BUILDING'],
}
