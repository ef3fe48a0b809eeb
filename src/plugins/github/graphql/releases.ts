import rest, { releases } from '../entities/releases.ts'
import { overGraphql, repositoryList } from './kit.ts'

export const { query, ...list } = repositoryList('releases', {
  size: 100,
  order: 'CREATED_AT',
  fields: `id databaseId name description descriptionHTML isDraft isLatest isPrerelease publishedAt resourcePath tagName url
    tagCommit { oid } author { login databaseId }`,
})

/** Always all of them: which one is the latest may change for any. */
export default overGraphql(rest, {
  raw: 'github_graphql_release',
  collect: { ...list },
  rows: (release, { read }) => [read(releases, release)],
})
