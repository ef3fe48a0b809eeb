/** Lists the scopes that Bitbucket offers: workspaces with repositories in them. */
import type { RawRecord } from '../../database/table.ts'
import type { HttpResponse, RemoteEntry, RemoteQuestion, RemoteScopes } from '../../plugin-kit/index.ts'

const PER_PAGE = 100
type Question = Pick<RemoteQuestion, 'client' | 'signal'>

const named = (links: readonly RawRecord[] | undefined, name: string) =>
  links?.find((link) => link.name === name)?.href ?? ''

/** Returns the fields of the scope for a repository from the API. */
export const scopeOf = (repo: RawRecord) => ({
  bitbucketId: repo.full_name,
  name: repo.name,
  HTMLUrl: repo.links?.html?.href ?? '',
  description: repo.description ?? '',
  owner: repo.owner?.display_name ?? repo.workspace?.name ?? '',
  language: repo.language ?? '',
  cloneUrl: named(repo.links?.clone, 'https'),
  createdDate: repo.created_on,
  updatedDate: repo.updated_on,
})

const repoEntry = (repo: RawRecord, parentId: string | null): RemoteEntry => ({
  type: 'scope',
  parentId,
  id: repo.full_name,
  name: repo.name,
  fullName: repo.full_name,
  archived: repo.is_archived ?? false,
  data: scopeOf(repo),
})

const isGone = ({ status }: HttpResponse) => status === 404 || status === 410

/**
 * Asks for the older of two lists, and for the newer one as soon as Bitbucket has removed the older one:
 * https://developer.atlassian.com/cloud/bitbucket/changelog/#CHANGE-2770
 */
export async function workspacesOf(
  { client, signal }: Question,
  { page = 1, accept = [403] }: { readonly page?: number; readonly accept?: readonly number[] },
): Promise<{ list: { slug: string; name: string }[]; hasMore: boolean; refusal?: HttpResponse }> {
  const query = { sort: 'workspace.slug', page, pagelen: PER_PAGE }
  const known = await client.send({ path: 'user/permissions/workspaces', query, accept: [404, 410, ...accept] }, signal)
  const answer = isGone(known)
    ? await client.send({ path: 'user/workspaces', query: { page, pagelen: PER_PAGE }, accept }, signal)
    : known
  if (answer.status !== 200) return { list: [], hasMore: false, refusal: answer }
  const list = answer.body.values.map(({ workspace }: RawRecord) => ({ slug: workspace.slug, name: workspace.name }))
  return { list, hasMore: Boolean(answer.body.next) }
}

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

export const remoteScopes: RemoteScopes = {
  async list({ group, page: asked, ...question }) {
    const page: number = asked?.page ?? 1
    if (group === undefined) {
      const { list, hasMore } = await workspacesOf(question, { page, accept: [] })
      const children = list.map(
        ({ slug, name }): RemoteEntry => ({
          type: 'group',
          parentId: null,
          id: slug,
          name,
          fullName: slug,
          data: null,
        }),
      )
      return { children, ...(hasMore && { next: { page: page + 1 } }) }
    }
    const query = { page, pagelen: PER_PAGE, sort: 'full_name' }
    const path = `repositories/${encodeURIComponent(group)}`
    const { body } = await question.client.send({ path, query }, question.signal)
    const children = body.values.map((repo: RawRecord) => repoEntry(repo, group))
    return { children, ...(body.next && { next: { page: page + 1 } }) }
  },
  async search({ search, page, pageSize, client, signal }) {
    const query = { q: `full_name ~ ${quoted(search)}`, sort: 'full_name', page, pagelen: Math.min(pageSize, PER_PAGE) }
    const everywhere = await client.send(
      { path: 'repositories', query: { role: 'member', ...query }, accept: [404, 410] },
      signal,
    )
    if (!isGone(everywhere)) return found([everywhere.body])
    const { list } = await workspacesOf({ client, signal }, { accept: [] })
    const answers = list.map(({ slug }) => client.send({ path: `repositories/${slug}`, query }, signal))
    return found((await Promise.all(answers)).map(({ body }) => body))
  },
}

function found(bodies: readonly RawRecord[]) {
  const children = bodies.flatMap(({ values }) => values.map((repo: RawRecord) => repoEntry(repo, null)))
  const sizes = bodies.map(({ size }) => size)
  return { children, ...(sizes.every(Number.isInteger) && { count: sizes.reduce((sum, size) => sum + size, 0) }) }
}
