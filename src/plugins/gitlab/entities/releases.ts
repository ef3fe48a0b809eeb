import { bigint, boolean, key, string, text, timestamp } from '../../../database/table.ts'
import { cicdReleases } from '../../../domain/devops.ts'
import { leftJoin } from '../../../plugin-kit/index.ts'
import { entity, inProject, PAGE, projectId, projects, table } from '../kit.ts'
import { accounts } from './accounts.ts'
import { people, peopleIn } from './people.ts'

const RAW = 'gitlab_api_releases'

/** DevLake has no releases of GitLab. */
export const releases = table('releases', 'GitlabRelease', {
  project_id: key(bigint(projectId)),
  tag_name: key(string()),
  name: string(),
  description: text(),
  author_id: bigint('author.id'),
  author_username: string('author.username'),
  commit_sha: string('commit.id'),
  gitlab_created_at: timestamp('created_at'),
  released_at: timestamp(),
  is_upcoming: boolean('upcoming_release'),
  web_url: text('_links.self'),
})
/** The latest release by date, among those that are already published. */
const latestReleases = table('latest_releases', 'GitlabLatestRelease', {
  project_id: key(bigint(projectId)),
  tag_name: string(),
})

export default entity(releases, {
  label: 'Releases',
  domainTypes: ['CICD'],
  raw: RAW,
  collect: {
    request: ({ scope }) => ({ path: inProject(scope, 'releases') }),
    paging: PAGE,
    key: (release) => release.tag_name,
  },
  extract: {
    writes: [people],
    edition: 2,
    rows: (release, { read }) => [read(releases, release), ...peopleIn([release.author], { read })],
  },
  convert: {
    to: [cicdReleases],
    joins: {
      latest: leftJoin(latestReleases, {
        connection_id: 'connection_id',
        project_id: 'project_id',
        tag_name: 'tag_name',
      }),
    },
    *rows({ latest, ...release }, { idOf }) {
      if (!release.released_at) return
      const project = idOf(projects, release.project_id)
      yield cicdReleases.row({
        id: idOf(releases, release.project_id, release.tag_name),
        published_at: release.released_at,
        cicd_scope_id: project,
        name: release.name,
        display_title: release.name,
        description: release.description,
        url: release.web_url,
        is_latest: latest !== null,
        is_prerelease: release.is_upcoming,
        author_id: idOf(accounts, release.author_id || null),
        repo_id: project,
        tag_name: release.tag_name,
        commit_sha: release.commit_sha,
      })
    },
  },
})

export const latestRelease = entity(latestReleases, {
  label: 'Latest Release',
  domainTypes: ['CICD'],
  raw: 'gitlab_api_latest_release',
  collect: {
    request: ({ scope }) => ({ path: inProject(scope, 'releases/permalink/latest') }),
    records: (release) => [release],
    key: () => 'latest',
    emptyOn: [404], // none yet
  },
})
