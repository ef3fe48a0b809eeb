import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, key, string, text, timestamp } from '../../../database/table.ts'
import { cicdReleases } from '../../../domain/devops.ts'
import { type AnyExtractContext, type ExtractContext, wholeTable } from '../../../plugin-kit/index.ts'
import {
  entity,
  inRepo,
  peopleIn,
  REST_PAGE,
  type Repo,
  repoAccounts,
  repoId,
  repos,
  table,
  WITH_NODE_IDS,
  withoutGhosts,
} from '../kit.ts'
import type { Rules } from '../rules.ts'
import { accounts } from './accounts.ts'

/** Reads records in the shape of GraphQL. */
export const releases = table(
  'releases',
  'GithubRelease',
  {
    github_id: bigint(repoId),
    id: key(string()),
    author_name: text('author.login'),
    author_id: text('author.databaseId'),
    database_id: bigint('databaseId'),
    description: text(),
    description_html: text('descriptionHTML'),
    is_draft: boolean('isDraft'),
    is_latest: boolean('isLatest'),
    is_prerelease: boolean('isPrerelease'),
    name: text(),
    published_at: timestamp('publishedAt'),
    resource_path: text('resourcePath'),
    tag_name: text('tagName'),
    commit_sha: text('tagCommit.oid'),
    url: text(),
  },
  WITH_NODE_IDS,
)
/** In REST, a release does not contain the commit of its tag. */
const tags = table('tags', 'GithubTag', {
  repo_id: key(bigint(repoId)),
  name: key(string()),
  commit_sha: string(40, 'commit.sha'),
})

/** https://docs.github.com/en/rest/using-the-rest-api/media-types: the description as it was written, and as HTML. */
const WITH_HTML = { accept: 'application/vnd.github.full+json' }

const fromRest = ({ author, ...release }: RawRecord, isLatest: boolean, tag: { commit_sha: string } | undefined) => ({
  ...release,
  id: release.node_id,
  databaseId: release.id,
  author: author && { login: author.login, databaseId: author.id },
  description: release.body,
  descriptionHTML: release.body_html,
  isDraft: release.draft,
  isLatest,
  isPrerelease: release.prerelease,
  publishedAt: release.published_at,
  resourcePath: new URL(release.html_url).pathname,
  tagName: release.tag_name,
  tagCommit: { oid: tag?.commit_sha },
  url: release.html_url,
})

/** Returns the rows of a release and its author. */
export const releaseRows = (release: RawRecord, context: Pick<AnyExtractContext, 'read'>) => [
  context.read(releases, release),
  ...peopleIn(release.author ? [{ id: release.author.databaseId, login: release.author.login }] : [], context),
]
const byTag = { tags: wholeTable(tags, 'name', ({ github_id }: Repo) => ({ repo_id: github_id })) }
const extractAs = (isLatest: boolean) => ({
  writes: [repoAccounts],
  edition: 2,
  lookups: byTag,
  rows: (release: RawRecord, { lookups, read }: ExtractContext<Repo, Rules, typeof byTag>) =>
    releaseRows(fromRest(withoutGhosts(release, 'author'), isLatest, lookups.tags.get(release.tag_name)), { read }),
})

export default entity(releases, {
  label: 'Releases',
  domainTypes: ['CICD'],
  raw: 'github_api_releases',
  collect: { request: ({ scope }) => ({ path: inRepo(scope, 'releases'), headers: WITH_HTML }), paging: REST_PAGE },
  extract: extractAs(false),
  convert: {
    to: [cicdReleases],
    replaces: ['github_api_releases', 'github_api_latest_release', 'github_graphql_release'],
    *rows(release, { idOf }) {
      if (!release.published_at) return
      const repo = idOf(repos, release.github_id)
      yield cicdReleases.row({
        id: idOf(releases, release.id),
        published_at: release.published_at,
        cicd_scope_id: repo,
        name: release.name,
        display_title: release.name,
        description: release.description,
        url: release.url,
        is_draft: release.is_draft,
        is_latest: release.is_latest,
        is_prerelease: release.is_prerelease,
        author_id: idOf(accounts, release.author_id || null),
        repo_id: repo,
        tag_name: release.tag_name,
        commit_sha: release.commit_sha,
      })
    },
  },
})

/** Collects the release that GitHub calls the latest once more, after all releases. */
export const latestRelease = entity(releases, {
  label: 'Latest Release',
  domainTypes: ['CICD'],
  raw: 'github_api_latest_release',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'releases/latest'), headers: WITH_HTML }),
    records: (release) => [release],
    emptyOn: [404], // none yet
  },
  extract: extractAs(true),
})

export const tagsEntity = entity(tags, {
  label: 'Tags',
  domainTypes: ['CICD'],
  raw: 'github_api_tags',
  collect: { request: ({ scope }) => ({ path: inRepo(scope, 'tags') }), paging: REST_PAGE },
})
