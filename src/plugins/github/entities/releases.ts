import type { RawRecord } from '../../../database/table.ts'
import { bigint, boolean, key, string, text, timestamp } from '../../../database/table.ts'
import { cicdReleases } from '../../../domain/devops.ts'
import { leftJoin } from '../../../plugin-kit/index.ts'
import { entity, inRepo, REST_PAGE, repoId, repos, table } from '../kit.ts'
import { accounts } from './accounts.ts'

/** The columns are those of GraphQL, which DevLake asks; over REST bots have names too, and it is as cheap. */
export const releases = table('releases', 'GithubRelease', {
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
})
/** Over REST a release does not tell the commit of its tag. */
const tags = table('tags', 'GithubTag', {
  repo_id: key(bigint(repoId)),
  name: key(string()),
  commit_sha: string(40, 'commit.sha'),
})

/** https://docs.github.com/en/rest/using-the-rest-api/media-types: the text as written, and as its page shows it. */
const WITH_HTML = { accept: 'application/vnd.github.full+json' }

const fromRest = (release: RawRecord, isLatest: boolean) => ({
  ...release,
  id: release.node_id,
  databaseId: release.id,
  author: release.author && { login: release.author.login, databaseId: release.author.id },
  description: release.body,
  descriptionHTML: release.body_html,
  isDraft: release.draft,
  isLatest,
  isPrerelease: release.prerelease,
  publishedAt: release.published_at,
  resourcePath: new URL(release.html_url).pathname,
  tagName: release.tag_name,
  url: release.html_url,
})

export default entity(releases, {
  label: 'Releases',
  domainTypes: ['CICD'],
  raw: 'github_api_releases',
  collect: { request: ({ scope }) => ({ path: inRepo(scope, 'releases'), headers: WITH_HTML }), paging: REST_PAGE },
  extract: { rows: (release, { read }) => [read(releases, fromRest(release, false))] },
  convert: {
    to: [cicdReleases],
    joins: { tag: leftJoin(tags, { connection_id: 'connection_id', repo_id: 'github_id', name: 'tag_name' }) },
    replaces: ['github_api_releases', 'github_api_latest_release'],
    *rows({ tag, ...release }, { idOf }) {
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
        author_id: idOf(accounts, release.author_id),
        repo_id: repo,
        tag_name: release.tag_name,
        commit_sha: release.commit_sha || tag?.commit_sha,
      })
    },
  },
})

/** After all releases: the one that GitHub calls the latest, once more. */
export const latestRelease = entity(releases, {
  label: 'Latest Release',
  domainTypes: ['CICD'],
  raw: 'github_api_latest_release',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'releases/latest'), headers: WITH_HTML }),
    records: (release) => [release],
    emptyOn: [404], // none yet
  },
  extract: { rows: (release, { read }) => [read(releases, fromRest(release, true))] },
})

export const tagsEntity = entity(tags, {
  label: 'Tags',
  domainTypes: ['CICD'],
  raw: 'github_api_tags',
  collect: { request: ({ scope }) => ({ path: inRepo(scope, 'tags') }), paging: REST_PAGE },
})
