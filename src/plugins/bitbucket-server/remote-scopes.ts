/** Lists the scopes that Bitbucket Data Center offers: projects with repositories in them. */
import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteScopes } from '../../plugin-kit/index.ts'
import { firstLink, idOfRepo } from './kit.ts'

const PER_PAGE = 100

/** Returns the fields of the scope for a repository from the API. */
export const scopeOf = (repo: RawRecord) => ({
  bitbucketId: idOfRepo(repo),
  name: repo.name,
  HTMLUrl: firstLink(repo) ?? '',
  description: repo.description ?? '',
  cloneUrl: repo.links?.clone?.find(({ name }: RawRecord) => name === 'http')?.href ?? '',
})

const repoEntry = (repo: RawRecord, parentId: string | null): RemoteEntry => ({
  type: 'scope',
  parentId,
  id: idOfRepo(repo),
  name: repo.name,
  fullName: `${repo.project.name}/${repo.name}`,
  archived: repo.archived ?? false,
  data: scopeOf(repo),
})
const projectEntry = ({ key, name }: RawRecord): RemoteEntry => ({
  type: 'group',
  parentId: null,
  id: key,
  name,
  fullName: name,
  data: null,
})

export const remoteScopes: RemoteScopes = {
  async list({ client, signal, group, page = { start: 0 } }) {
    const path = group === undefined ? 'projects' : `projects/${encodeURIComponent(group)}/repos`
    const query = { start: page.start, limit: PER_PAGE }
    const { body } = await client.send({ path: `rest/api/1.0/${path}`, query }, signal)
    const children = body.values.map((each: RawRecord) =>
      group === undefined ? projectEntry(each) : repoEntry(each, group),
    )
    return { children, ...(!body.isLastPage && { next: { start: body.nextPageStart } }) }
  },
  async search({ client, signal, search, page, pageSize }) {
    const limit = Math.min(pageSize, PER_PAGE)
    const query = { name: search, start: (page - 1) * limit, limit }
    const { body } = await client.send({ path: 'rest/api/1.0/repos', query }, signal)
    return { children: body.values.map((repo: RawRecord) => repoEntry(repo, null)) }
  },
}
