/** Lists the scopes that Bamboo offers: projects with their plans. */
import type { RawRecord } from '../../database/table.ts'
import type { RemoteEntry, RemoteScopes } from '../../plugin-kit/index.ts'

const PAGE_SIZE = 100

/** `size` is the total number, and `start-index` the number before this page. */
const nextOf = (list: RawRecord, count: number, size: number) => {
  const end = (list['start-index'] ?? 0) + count
  return count > 0 && end < list.size ? { 'start-index': end, 'max-results': size } : undefined
}

export const remoteScopes: RemoteScopes = {
  async list({ client, signal, group, page }) {
    const query = { 'start-index': 0, 'max-results': PAGE_SIZE, ...page }
    if (group === undefined) {
      const { body } = await client.send({ path: 'project.json', query: { ...query, showEmpty: false } }, signal)
      const { project: projects = [], ...list } = body.projects
      const next = nextOf(list, projects.length, query['max-results'])
      return { children: projects.map(groupOf), ...(next && { next }) }
    }
    const path = `project/${encodeURIComponent(group)}.json`
    const { body } = await client.send({ path, query: { ...query, expand: 'plans.plan' } }, signal)
    const { plan: plans = [], ...list } = body.plans
    const next = nextOf(list, plans.length, query['max-results'])
    return { children: plans.map((plan: RawRecord) => scopeOf(plan, group)), ...(next && { next }) }
  },
  async search({ client, signal, search, page, pageSize }) {
    const query = { searchTerm: search, 'start-index': (page - 1) * pageSize, 'max-results': pageSize }
    const { body } = await client.send({ path: 'search/plans.json', query }, signal)
    const found: readonly RawRecord[] = body.searchResults ?? []
    const children = found.map(({ searchEntity: { key, projectName, planName, description } }) =>
      scopeOf({ key, name: `${projectName} - ${planName}`, projectName, shortName: planName, description }, null),
    )
    return { children, ...(typeof body.size === 'number' && { count: body.size }) }
  },
}

const groupOf = ({ key, name }: RawRecord): RemoteEntry => ({
  type: 'group',
  parentId: null,
  id: key,
  name,
  fullName: name,
  data: null,
})

function scopeOf(plan: RawRecord, group: string | null): RemoteEntry {
  return {
    type: 'scope',
    parentId: group,
    id: plan.key,
    name: plan.shortName ?? plan.name,
    fullName: plan.name,
    data: planData(plan),
  }
}

/** Returns the fields of the scope for a plan from the API. */
export const planData = (plan: RawRecord) => ({
  planKey: plan.key,
  name: plan.name,
  expand: plan.expand ?? '',
  projectKey: plan.projectKey ?? plan.key.slice(0, plan.key.lastIndexOf('-')),
  projectName: plan.projectName ?? '',
  description: plan.description ?? '',
  shortName: plan.shortName ?? '',
  buildName: plan.buildName ?? '',
  shortKey: plan.shortKey ?? '',
  type: plan.type ?? '',
  enabled: plan.enabled ?? true,
  href: plan.link?.href ?? '',
  rel: plan.link?.rel ?? '',
  isFavourite: plan.isFavourite ?? false,
  isActive: plan.isActive ?? false,
  isBuilding: plan.isBuilding ?? false,
  averageBuildTimeInSeconds: plan.averageBuildTimeInSeconds ?? 0,
})
