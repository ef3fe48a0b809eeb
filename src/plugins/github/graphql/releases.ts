import { bigint, key, string } from '../../../database/table.ts'
import { byKey } from '../../../plugin-kit/index.ts'
import rest, { releaseRows } from '../entities/releases.ts'
import { entity, inRepo, REST_PAGE, repoAccounts, repoIdColumn, table, withoutGhosts } from '../kit.ts'
import { overGraphql, repositoryList } from './kit.ts'

export const { query, ...list } = repositoryList('releases', {
  size: 100,
  order: 'CREATED_AT',
  fields: `id databaseId name description descriptionHTML isDraft isLatest isPrerelease publishedAt resourcePath tagName
    tagCommit { oid } url author { login databaseId }`,
})

/** In GraphQL, only people are authors of releases. Many are made by bots, and REST also names those. */
const releaseAuthors = table('release_authors', 'GithubReleaseAuthor', {
  id: key(string('node_id')),
  repo_id: repoIdColumn(),
  author_id: bigint('author.id'),
  login: string('author.login'),
})
export const authors = entity(releaseAuthors, {
  label: 'Release Authors',
  domainTypes: ['CICD'],
  raw: 'github_api_release_authors',
  collect: { request: ({ scope }) => ({ path: inRepo(scope, 'releases') }), paging: REST_PAGE },
  extract: { rows: (release, { read }) => [read(releaseAuthors, withoutGhosts(release, 'author'))] },
})

export default overGraphql(rest, {
  raw: 'github_graphql_release',
  collect: list,
  writes: [repoAccounts],
  lookups: { authors: byKey(releaseAuthors, 'id', ({ id, Id }) => id ?? Id) },
  rows(release, context) {
    const known = context.lookups.authors.get(release.id)
    const author = release.author ?? (known?.author_id ? { databaseId: known.author_id, login: known.login } : null)
    return releaseRows({ ...release, author }, context)
  },
})
