import type { Organisation, User } from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import { type Answer, notFound, ok, page, type RestRequest, type Routes, refusal } from './exchange.ts'
import { fullOrganisation, fullUser, organisation, organisationsOf } from './shape-people.ts'
import { fullName, repositoryShape } from './shape-repository.ts'

/** Operations outside a repository, by their template in GitHub's description. */
export const accountRoutes: Routes = {
  'GET /': { answer: root },
  'GET /rate_limit': { answer: rateLimit },
  'GET /user': { answer: (request) => withUser(request, (user) => ok(fullUser(request, user), user.createdAt)) },
  'GET /user/orgs': { answer: ownOrganisations },
  'GET /user/repos': {
    honours: ['visibility', 'affiliation', 'type', 'sort', 'direction'],
    answer: (request) =>
      withUser(request, (user) => repositories(request, ownedOrShared(request, user.login), 'full_name')),
  },
  'GET /installation/repositories': { answer: installationRepositories },
  'GET /orgs/{org}': {
    answer: (request) => withOrganisation(request, (found) => ok(fullOrganisation(request, found), found.createdAt)),
  },
  'GET /orgs/{org}/repos': {
    honours: ['type', 'sort', 'direction'],
    answer: (request) =>
      withOrganisation(request, ({ login }) => repositories(request, (each) => each.owner === login, 'created')),
  },
  'GET /users/{username}': {
    answer: (request) => {
      const user = request.world.people.find(request.parameters.username!)
      return user === undefined ? notFound() : ok(fullUser(request, user), user.createdAt)
    },
  },
  'GET /users/{username}/orgs': {
    answer: (request) => {
      const { people } = request.world
      const user = people.find(request.parameters.username!)
      if (user === undefined) return notFound()
      return page(request, organisationsOf(people, user), (list) => list.map((each) => organisation(request, each)))
    },
  },
  'GET /search/repositories': { honours: ['q', 'sort', 'order'], answer: search },
}

export function canSee({ bearer }: Pick<RestRequest, 'bearer'>, repository: Repository): boolean {
  if (!repository.settings.private) return true
  return bearer !== undefined && (bearer.kind !== 'classic' || bearer.scopes.includes('repo'))
}

function withUser(request: RestRequest, answer: (user: User) => Answer): Answer {
  const { bearer, world } = request
  if (bearer === undefined) return refusal(401, 'Requires authentication')
  if (bearer.kind === 'installation') return refusal(403, 'Resource not accessible by integration')
  const user = world.people.find(bearer.login)
  if (user === undefined) throw new Error(`the token's login ${bearer.login} is no user of the world`)
  return answer(user)
}

function withOrganisation(request: RestRequest, answer: (found: Organisation) => Answer): Answer {
  const found = request.world.people.organisation(request.parameters.org!)
  return found === undefined ? notFound() : answer(found)
}

function ownOrganisations(request: RestRequest): Answer {
  return withUser(request, () => {
    const { bearer, world } = request
    const isAllowed =
      bearer!.kind !== 'classic' || ['read:org', 'admin:org', 'user'].some((scope) => bearer!.scopes.includes(scope))
    if (!isAllowed) return refusal(403, 'You need at least read:org scope or user scope to list your organizations.')
    return page(request, world.people.organisations, (list) => list.map((each) => organisation(request, each)))
  })
}

const ownedOrShared = ({ query, world }: RestRequest, login: string) => {
  const wanted = (query.get('affiliation') ?? 'owner,collaborator,organization_member').split(',')
  return (repository: Repository): boolean =>
    (wanted.includes('owner') && repository.owner === login) ||
    (wanted.includes('organization_member') && world.people.organisation(repository.owner) !== undefined)
}

function repositories(request: RestRequest, where: (repository: Repository) => boolean, defaultSort: string): Answer {
  const { query, world } = request
  const sort = query.get('sort') ?? defaultSort
  const kind = query.get('visibility') ?? query.get('type') ?? 'all'
  const found = world.repositories.filter(
    (each) =>
      where(each) &&
      canSee(request, each) &&
      (kind === 'private' ? each.settings.private : kind === 'public' ? !each.settings.private : true) &&
      (kind === 'forks' ? each.settings.parent !== null : kind === 'sources' ? each.settings.parent === null : true),
  )
  if (sort === 'full_name') found.sort((a, b) => (fullName(a) < fullName(b) ? -1 : 1))
  else found.sort((a, b) => a.id - b.id)
  if ((query.get('direction') ?? (sort === 'full_name' ? 'asc' : 'desc')) === 'desc') found.reverse()
  return page(request, found, (list) => list.map((each) => repositoryShape(request, each)))
}

function installationRepositories(request: RestRequest): Answer {
  if (request.bearer?.kind !== 'installation')
    return refusal(
      403,
      'You must authenticate with an installation access token in order to list repositories for an installation.',
    )
  return page(request, request.world.repositories, (list, total) => ({
    total_count: total,
    repository_selection: 'all',
    repositories: list.map((each) => repositoryShape(request, each)),
  }))
}

/** Finds repositories by a search text: words in the name, and the qualifiers org, user and fork. */
export function searchRepositories(
  { world, bearer }: Pick<RestRequest, 'world' | 'bearer'>,
  text: string,
): Repository[] {
  const terms = text.trim().toLowerCase().split(/\s+/)
  const valuesOf = (...names: string[]): string[] =>
    terms.flatMap((term) => (names.includes(term.split(':')[0]!) ? [term.slice(term.indexOf(':') + 1)] : []))
  const words = terms.filter((term) => !term.includes(':'))
  const owners = valuesOf('org', 'user')
  const withForks = valuesOf('fork').some((value) => value !== 'false')
  return world.repositories.filter(
    (each) =>
      canSee({ bearer }, each) &&
      (withForks || each.settings.parent === null) &&
      (owners.length === 0 || owners.includes(each.owner.toLowerCase())) &&
      words.every((word) => fullName(each).toLowerCase().includes(word)),
  )
}

function search(request: RestRequest): Answer {
  return page(
    request,
    searchRepositories(request, request.query.get('q')!),
    (list, total) => ({
      total_count: total,
      incomplete_results: false,
      items: list.map((each) => ({ ...repositoryShape(request, each), score: 1 })),
    }),
    { cap: 1000 },
  )
}

function rateLimit({ quota }: RestRequest): Answer {
  const show = (resource: 'core' | 'graphql' | 'search') => {
    const { limit, used, remaining, reset } = quota(resource)
    return { limit, used, remaining, reset }
  }
  return ok({ resources: { core: show('core'), search: show('search'), graphql: show('graphql') }, rate: show('core') })
}

const ROOT_LINKS = {
  current_user_url: 'user',
  current_user_authorizations_html_url: 'settings/connections/applications{/client_id}',
  authorizations_url: 'authorizations',
  code_search_url: 'search/code?q={query}{&page,per_page,sort,order}',
  commit_search_url: 'search/commits?q={query}{&page,per_page,sort,order}',
  emails_url: 'user/emails',
  emojis_url: 'emojis',
  events_url: 'events',
  feeds_url: 'feeds',
  followers_url: 'user/followers',
  following_url: 'user/following{/target}',
  gists_url: 'gists{/gist_id}',
  issue_search_url: 'search/issues?q={query}{&page,per_page,sort,order}',
  issues_url: 'issues',
  keys_url: 'user/keys',
  label_search_url: 'search/labels?q={query}&repository_id={repository_id}{&page,per_page}',
  notifications_url: 'notifications',
  organization_url: 'orgs/{org}',
  organization_repositories_url: 'orgs/{org}/repos{?type,page,per_page,sort}',
  organization_teams_url: 'orgs/{org}/teams',
  public_gists_url: 'gists/public',
  rate_limit_url: 'rate_limit',
  repository_url: 'repos/{owner}/{repo}',
  repository_search_url: 'search/repositories?q={query}{&page,per_page,sort,order}',
  current_user_repositories_url: 'user/repos{?type,page,per_page,sort}',
  starred_url: 'user/starred{/owner}{/repo}',
  starred_gists_url: 'gists/starred',
  user_url: 'users/{user}',
  user_organizations_url: 'user/orgs',
  user_repositories_url: 'users/{user}/repos{?type,page,per_page,sort}',
  user_search_url: 'search/users?q={query}{&page,per_page,sort,order}',
}
function root({ api }: RestRequest): Answer {
  return ok(Object.fromEntries(Object.entries(ROOT_LINKS).map(([name, path]) => [name, `${api}/${path}`])))
}
