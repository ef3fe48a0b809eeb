import { GHOST, type People } from '../world/people.ts'
import type { Organisation, User } from '../world/records.ts'
import type { Repository } from '../world/repository.ts'
import type { World } from '../world/world.ts'

/** The context of every shape: the base address of the API, and the world. */
export interface Shaping {
  readonly api: string
  readonly world: World
}

const USER_LINKS = {
  followers_url: 'followers',
  following_url: 'following{/other_user}',
  gists_url: 'gists{/gist_id}',
  starred_url: 'starred{/owner}{/repo}',
  subscriptions_url: 'subscriptions',
  organizations_url: 'orgs',
  repos_url: 'repos',
  events_url: 'events{/privacy}',
  received_events_url: 'received_events',
}
const ORGANISATION_LINKS = {
  repos_url: 'repos',
  events_url: 'events',
  hooks_url: 'hooks',
  issues_url: 'issues',
  members_url: 'members{/member}',
  public_members_url: 'public_members{/member}',
}
const links = (table: Readonly<Record<string, string>>, base: string): Record<string, string> =>
  Object.fromEntries(Object.entries(table).map(([name, suffix]) => [name, `${base}/${suffix}`]))

/** A cache, because pages often repeat the same few accounts. */
const accounts = new Map<string, ReturnType<typeof newAccount>>()
const ACCOUNTS_KEPT = 2000

function account(api: string, login: string, id: number, nodeId: string, type: string) {
  const key = `${api} ${login}`
  const known = accounts.get(key) ?? newAccount(api, login, id, nodeId, type)
  if (accounts.size >= ACCOUNTS_KEPT) accounts.clear()
  accounts.set(key, known)
  return known
}

function newAccount(api: string, login: string, id: number, nodeId: string, type: string) {
  const url = `${api}/users/${encodeURIComponent(login)}`
  return {
    login,
    id,
    node_id: nodeId,
    avatar_url: `https://avatars.githubusercontent.com/u/${id}?v=4`,
    gravatar_id: '',
    url,
    html_url: type === 'Bot' ? `https://github.com/apps/${login.replace('[bot]', '')}` : `https://github.com/${login}`,
    ...links(USER_LINKS, url),
    type,
    user_view_type: 'public',
    site_admin: false,
  }
}

export const simpleUser = ({ api }: Shaping, user: User) => account(api, user.login, user.id, user.nodeId, user.type)

/** Returns a person by login, or null for a deleted account. */
export function person(on: Shaping, login: string | null) {
  return login === null ? null : simpleUser(on, on.world.people.find(login) ?? stranger(login))
}
/** Returns `ghost` for a deleted account, where GitHub's description forbids null. */
export const personOrGhost = (on: Shaping, login: string | null) => person(on, login ?? GHOST.login)
export const persons = (on: Shaping, logins: readonly string[]) => logins.map((login) => personOrGhost(on, login))

/** A person that a test named in a change. */
const stranger = (login: string): User => ({ ...GHOST, id: 1_000_000 + login.length, login })

export function fullUser(on: Shaping, user: User) {
  return {
    ...simpleUser(on, user),
    name: user.name,
    company: user.company,
    blog: '',
    location: null,
    email: user.email,
    hireable: null,
    bio: null,
    twitter_username: null,
    public_repos: 2,
    public_gists: 0,
    followers: 3,
    following: 1,
    created_at: user.createdAt,
    updated_at: user.createdAt,
  }
}

export function organisation({ api }: Shaping, each: Organisation) {
  const url = `${api}/orgs/${each.login}`
  return {
    login: each.login,
    id: each.id,
    node_id: each.nodeId,
    url,
    ...links(ORGANISATION_LINKS, url),
    avatar_url: `https://avatars.githubusercontent.com/u/${each.id}?v=4`,
    description: each.description,
  }
}

export function fullOrganisation(on: Shaping, each: Organisation) {
  return {
    ...organisation(on, each),
    name: each.login,
    has_organization_projects: true,
    has_repository_projects: true,
    public_repos: on.world.repositories.filter((repository) => repository.owner === each.login).length,
    public_gists: 0,
    followers: 0,
    following: 0,
    html_url: `https://github.com/${each.login}`,
    type: 'Organization',
    created_at: each.createdAt,
    updated_at: each.createdAt,
    archived_at: null,
  }
}

export function repositoryOwner(on: Shaping, { owner }: Pick<Repository, 'owner'>) {
  const company = on.world.people.organisation(owner)
  return company === undefined
    ? personOrGhost(on, owner)
    : account(on.api, company.login, company.id, company.nodeId, 'Organization')
}

export const organisationsOf = (people: People, user: User): Organisation[] =>
  user.organisations.flatMap((login) => people.organisation(login) ?? [])
