import type { Repository } from '../world/repository.ts'
import { repositoryOwner, type Shaping } from './shape-people.ts'

const LINKS = {
  archive_url: '{archive_format}{/ref}',
  assignees_url: 'assignees{/user}',
  blobs_url: 'git/blobs{/sha}',
  branches_url: 'branches{/branch}',
  collaborators_url: 'collaborators{/collaborator}',
  comments_url: 'comments{/number}',
  commits_url: 'commits{/sha}',
  compare_url: 'compare/{base}...{head}',
  contents_url: 'contents/{+path}',
  contributors_url: 'contributors',
  deployments_url: 'deployments',
  downloads_url: 'downloads',
  events_url: 'events',
  forks_url: 'forks',
  git_commits_url: 'git/commits{/sha}',
  git_refs_url: 'git/refs{/sha}',
  git_tags_url: 'git/tags{/sha}',
  issue_comment_url: 'issues/comments{/number}',
  issue_events_url: 'issues/events{/number}',
  issues_url: 'issues{/number}',
  keys_url: 'keys{/key_id}',
  labels_url: 'labels{/name}',
  languages_url: 'languages',
  merges_url: 'merges',
  milestones_url: 'milestones{/number}',
  notifications_url: 'notifications{?since,all,participating}',
  pulls_url: 'pulls{/number}',
  releases_url: 'releases{/id}',
  stargazers_url: 'stargazers',
  statuses_url: 'statuses/{sha}',
  subscribers_url: 'subscribers',
  subscription_url: 'subscription',
  tags_url: 'tags',
  teams_url: 'teams',
  trees_url: 'git/trees{/sha}',
  hooks_url: 'hooks',
}

/** The names and ids of a repository. A fork outside the world has nothing else. */
export interface RepositoryName {
  readonly id: number
  readonly nodeId: string
  readonly owner: string
  readonly name: string
}
export const fullName = ({ owner, name }: RepositoryName): string => `${owner}/${name}`
export const repositoryUrl = (on: Shaping, repository: RepositoryName): string =>
  `${on.api}/repos/${fullName(repository)}`
export const pageUrl = (repository: RepositoryName): string => `https://github.com/${fullName(repository)}`

/** A cache: every pull request shows its repositories, and composing 36 links each time would take most of the fake's time. */
const links = new Map<string, Record<string, string>>()
const REPOSITORIES_KEPT = 500
function linksOf(url: string): Record<string, string> {
  const known =
    links.get(url) ?? Object.fromEntries(Object.entries(LINKS).map(([name, suffix]) => [name, `${url}/${suffix}`]))
  if (links.size >= REPOSITORIES_KEPT) links.clear()
  links.set(url, known)
  return known
}

/** GitHub's `minimal-repository`. */
export function minimalRepository(on: Shaping, repository: RepositoryName, isPrivate: boolean, isFork: boolean) {
  const url = repositoryUrl(on, repository)
  return {
    id: repository.id,
    node_id: repository.nodeId,
    name: repository.name,
    full_name: fullName(repository),
    private: isPrivate,
    owner: repositoryOwner(on, repository),
    html_url: pageUrl(repository),
    description: `The repository ${fullName(repository)}`,
    fork: isFork,
    url,
    ...linksOf(url),
  }
}

/** GitHub's `repository`. Search results and the full form have further fields. */
export function repositoryShape(on: Shaping, repository: Repository) {
  const { settings } = repository
  const openIssues = settings.issues
  return {
    ...minimalRepository(on, repository, settings.private, settings.parent !== null),
    git_url: `git://github.com/${fullName(repository)}.git`,
    ssh_url: `git@github.com:${fullName(repository)}.git`,
    clone_url: settings.cloneUrl ?? `${pageUrl(repository)}.git`,
    svn_url: pageUrl(repository),
    mirror_url: null,
    homepage: null,
    language: settings.commits === 0 ? null : 'TypeScript',
    license: null,
    forks_count: 0,
    forks: 0,
    stargazers_count: repository.ordinal,
    watchers_count: repository.ordinal,
    watchers: repository.ordinal,
    size: settings.commits,
    default_branch: 'main',
    open_issues_count: openIssues,
    open_issues: openIssues,
    is_template: false,
    topics: [],
    has_issues: repository.hasIssues,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived: repository.isArchived,
    disabled: false,
    visibility: settings.private ? 'private' : 'public',
    pushed_at: repository.pushedAt,
    created_at: repository.createdAt,
    updated_at: repository.updatedAt,
    permissions: { admin: false, maintain: false, push: true, triage: true, pull: true },
  }
}

export function fullRepository(on: Shaping, repository: Repository): object {
  const parentName = repository.settings.parent
  const parent = parentName === null ? undefined : on.world.find(parentName)
  const shape = { ...repositoryShape(on, repository), subscribers_count: 0, network_count: 0 }
  return parent === undefined
    ? shape
    : { ...shape, parent: repositoryShape(on, parent), source: repositoryShape(on, parent) }
}
