/** Lists the scopes that GitLab offers: the account's own projects, and groups with subgroups and projects. */
import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteQuestion, RemoteScopes } from '../../plugin-kit/index.ts'

const PER_PAGE = 100
/** Reporter. With less access, issues and merge requests of a private project cannot be read, and so the project cannot be collected. */
const LEAST_ACCESS = 20
const OWN = /^user:(\d+)$/

interface Page {
  readonly page: number
  readonly per_page: number
  /** Subgroups come first, then projects. */
  readonly step: 'groups' | 'projects'
}

const groupEntry = ({ id, name, full_path }: RawRecord, parentId: string | null): RemoteEntry => ({
  type: 'group',
  parentId,
  id: String(id),
  name,
  fullName: full_path,
  data: null,
})

const projectEntry = (project: RawRecord, parentId: string | null): RemoteEntry => ({
  type: 'scope',
  parentId,
  id: String(project.id),
  name: project.name,
  fullName: project.path_with_namespace,
  archived: project.archived ?? false,
  topics: project.topics ?? project.tag_list ?? [],
  data: {
    gitlabId: project.id,
    name: project.name,
    description: project.description ?? '',
    defaultBranch: project.default_branch ?? '',
    pathWithNamespace: project.path_with_namespace,
    webUrl: project.web_url,
    creatorId: project.creator_id ?? 0,
    visibility: project.visibility ?? '',
    openIssuesCount: project.open_issues_count ?? 0,
    starCount: project.star_count ?? 0,
    forkedFromProjectId: project.forked_from_project?.id ?? 0,
    forkedFromProjectWebUrl: project.forked_from_project?.web_url ?? '',
    httpUrlToRepo: project.http_url_to_repo ?? '',
    createdDate: project.created_at,
    updatedDate: project.last_activity_at,
    archived: project.archived ?? false,
  },
})

async function ask({ client, signal }: RemoteQuestion, path: string, query: object = {}): Promise<RawRecord> {
  return (await client.send({ path, query: query as Record<string, string> }, signal)).body
}

const isFull = ({ per_page }: Page, records: readonly unknown[]) => records.length >= per_page
const following = (page: Page) => ({ next: { ...page, page: page.page + 1 } })

export const remoteScopes: RemoteScopes = {
  async list({ group, page: asked, ...question }) {
    const own = OWN.exec(group ?? '')?.[1]
    const page: Page = asked ?? { page: 1, per_page: PER_PAGE, step: own ? 'projects' : 'groups' }
    const { page: number, per_page } = page
    if (page.step === 'groups') {
      const path = group ? `/groups/${encodeURIComponent(group)}/subgroups` : '/groups'
      const query = { page: number, per_page, min_access_level: LEAST_ACCESS, ...(!group && { top_level_only: true }) }
      const groups: RawRecord[] = await ask(question, path, query)
      const user = !group && number === 1 ? await ask(question, '/user') : undefined
      const children = groups.map((each) => groupEntry(each, group ?? null))
      if (user) children.unshift(groupEntry({ ...user, id: `user:${user.id}`, full_path: user.username }, null))
      if (isFull(page, groups)) return { children, ...following(page) }
      return { children, ...(group && { next: { page: 1, per_page, step: 'projects' } }) }
    }
    const path = own ? `/users/${own}/projects` : `/groups/${encodeURIComponent(group ?? '')}/projects`
    const projects: RawRecord[] = await ask(question, path, {
      page: number,
      per_page,
      archived: false,
      min_access_level: LEAST_ACCESS,
      ...(!own && { include_subgroups: false }),
    })
    const children = projects.map((each) => projectEntry(each, group ?? null))
    return { children, ...(isFull(page, projects) && following(page)) }
  },
  async search({ search, page, pageSize, ...question }) {
    const query = { search, page, per_page: Math.min(pageSize, PER_PAGE), archived: false, membership: true }
    const { body, headers } = await question.client.send({ path: '/projects', query }, question.signal)
    const count = Number.parseInt(headers['x-total'] ?? '', 10)
    return { children: body.map((each: RawRecord) => projectEntry(each, null)), ...(!Number.isNaN(count) && { count }) }
  },
}
