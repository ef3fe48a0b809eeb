import type { RawRecord, TableRow } from '../../database/table.ts'
import { bigint, boolean, key, optional, type RowOf, string, text, timestamp } from '../../database/table.ts'
import { type AnyExtractContext, cursor, pluginKit } from '../../plugin-kit/index.ts'
import type { rules } from './rules.ts'

const kit = pluginKit('bitbucket_server')
export const { table } = kit

export const repos = table('repos', 'BitbucketServerRepo', {
  bitbucket_id: key(string()),
  scope_config_id: bigint(() => 0),
  name: string(),
  html_url: string(),
  description: text(),
  clone_url: string(),
  created_date: timestamp(),
  updated_date: timestamp(),
})
type Repo = RowOf<typeof repos>

/** Tables with a column for the repository are filtered by it. Others join a table that has one. */
export const entity = kit.entityMaker<Repo, ReturnType<typeof rules>>({
  scopeColumn: 'repo_id',
  scopeKey: 'bitbucket_id',
})

export const repoId = (_record: unknown, { scope }: RawRecord): string => scope.bitbucket_id
export const idOfRepo = ({ project, slug }: RawRecord): string => `${project.key}/repos/${slug}`
/** The id of a repository is its path below `projects`. */
export const repoPath = ({ bitbucket_id }: Pick<Repo, 'bitbucket_id'>): string =>
  `rest/api/1.0/projects/${bitbucket_id.split('/').map(encodeURIComponent).join('/')}`
export const inRepo = (repo: Repo, path: string): string => `${repoPath(repo)}/${path}`

/** https://developer.atlassian.com/server/bitbucket/rest/: the server says which page is the last. A page that is not full may have a next one. */
export const PAGE = cursor({
  size: 100,
  sizeParam: 'limit',
  param: 'start',
  next: ({ isLastPage, nextPageStart }) => (isLastPage ? null : nextPageStart),
})
export const values = (body: RawRecord): readonly unknown[] => body.values

const firstLink = ({ links }: RawRecord) => links?.self?.[0]?.href

export { firstLink }

/** People have no list of their own. They are read from other records. */
export const users = table('users', 'BitbucketServerUser', {
  bitbucket_id: key(bigint('id')),
  name: string(),
  email_address: string('emailAddress'),
  active: boolean(),
  slug: string(),
  type: string(),
  account_status: string(),
  display_name: string('displayName'),
  html_url: optional(string(firstLink)),
})
export function* peopleIn(
  people: readonly RawRecord[],
  { read }: Pick<AnyExtractContext, 'read'>,
): Generator<TableRow, void> {
  for (const person of people) if (person?.id) yield read(users, person)
}
