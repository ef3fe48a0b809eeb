/** Lists the scopes that GitHub offers: the account's own repositories and those of its organisations. */
import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteQuestion, RemoteScopes } from '../../plugin-kit/index.ts'
import { isApp } from './connection.ts'

const PER_PAGE = 100
interface Page {
  /** The repositories of the account itself are requested. */
  readonly own?: boolean
  readonly page: number
  readonly per_page: number
}

const group = (login: string): RemoteEntry => ({
  type: 'group',
  parentId: null,
  id: login,
  name: login,
  fullName: login,
  data: null,
})

const repository = (repo: RawRecord, parentId: string | null): RemoteEntry => ({
  type: 'scope',
  parentId,
  id: String(repo.id),
  name: repo.name,
  fullName: repo.full_name,
  archived: repo.archived ?? false,
  topics: repo.topics ?? [],
  data: {
    githubId: repo.id,
    name: repo.name,
    fullName: repo.full_name,
    HTMLUrl: repo.html_url,
    description: repo.description ?? '',
    ownerId: repo.owner?.id ?? 0,
    language: repo.language ?? '',
    parentId: repo.parent?.id ?? 0,
    parentHtmlUrl: repo.parent?.html_url ?? '',
    cloneUrl: repo.clone_url,
    createdDate: repo.created_at,
    updatedDate: repo.updated_at,
  },
})

async function ask({ client, signal }: RemoteQuestion, path: string, query: object): Promise<RawRecord> {
  return (await client.send({ path, query: query as Record<string, string> }, signal)).body
}

/** A page that is full may have a next one. */
const nextOf = (page: Page, records: readonly unknown[]) =>
  records.length < page.per_page ? {} : { next: { ...page, page: page.page + 1 } }

export const remoteScopes: RemoteScopes = {
  async list({ group: owner, page = { page: 1, per_page: PER_PAGE }, ...question }) {
    if (isApp(question.settings)) {
      const { repositories } = await ask(question, '/installation/repositories', page)
      const owners = [...new Set<string>(repositories.map((repo: RawRecord) => repo.owner.login))]
      const children = owner
        ? repositories
            .filter((repo: RawRecord) => repo.owner.login === owner)
            .map((repo: RawRecord) => repository(repo, owner))
        : owners.map(group)
      return { children, ...nextOf(page, repositories) }
    }
    const user = !owner || page.page === 1 ? await ask(question, '/user', {}) : undefined
    if (!owner) {
      const organisations = await ask(question, '/user/orgs', page)
      const own = page.page === 1 ? [group(user.login)] : []
      return {
        children: [...own, ...organisations.map((each: RawRecord) => group(each.login))],
        ...nextOf(page, organisations),
      }
    }
    const isOwn = page.own ?? user.login === owner
    const path = isOwn ? '/user/repos' : `/orgs/${encodeURIComponent(owner)}/repos`
    const repos = await ask(question, path, { page: page.page, per_page: page.per_page, type: isOwn ? 'owner' : 'all' })
    return {
      children: repos.map((repo: RawRecord) => repository(repo, owner)),
      ...nextOf({ ...page, own: isOwn }, repos),
    }
  },
  async search({ search, page, pageSize, ...question }) {
    const query = { q: `${search} in:name fork:true`, page, per_page: Math.min(pageSize, PER_PAGE) }
    const { items, total_count } = await ask(question, '/search/repositories', query)
    return { children: items.map((repo: RawRecord) => repository(repo, null)), count: total_count }
  },
}
