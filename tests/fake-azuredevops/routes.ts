/** The answers of https://learn.microsoft.com/rest/api/azure/devops/, as far as the plugin uses them. */
import { ORGANIZATION, PROJECT, type World } from './world.ts'

export interface Answer {
  readonly status?: number
  readonly body?: unknown
  readonly headers?: Record<string, string>
}
type Query = URLSearchParams
type Route = readonly [path: RegExp, answer: (world: World, match: readonly string[], query: Query) => Answer]

/** Smaller than requested, because nothing guarantees the size of a page. */
const LARGEST_PAGE = 40
const BATCH = 3

const list = (value: readonly unknown[]): Answer => ({ body: { count: value.length, value } })
const one = (thing: unknown): Answer =>
  thing ? { body: thing } : { status: 404, body: { message: 'TF200016: it does not exist, or you may not see it' } }

function skipped(records: readonly unknown[], query: Query): Answer {
  const skip = Number(query.get('$skip') ?? 0)
  return list(records.slice(skip, skip + Math.min(LARGEST_PAGE, Number(query.get('$top') ?? LARGEST_PAGE))))
}
/** The token contains the number of records already sent. */
function continued(records: readonly unknown[], query: Query, sizeName = '$top'): Answer {
  const start = Number(query.get('continuationToken') ?? 0)
  const end = start + Math.min(LARGEST_PAGE, Number(query.get(sizeName) ?? LARGEST_PAGE))
  const headers = end < records.length ? { 'x-ms-continuationtoken': String(end) } : undefined
  return { ...list(records.slice(start, end)), ...(headers && { headers }) }
}
/** Returns everything that has changed since a time, a few records per page. */
function reported(records: readonly any[], timeOf: (record: any) => string, query: Query): Answer {
  const token = query.get('continuationToken')
  if (token && query.has('startDateTime')) return { status: 400, body: { message: 'startDateTime and a watermark' } }
  const [from = 0, start = 0] = token?.split(';').map(Number) ?? [Date.parse(query.get('startDateTime') ?? '') || 0]
  const all = records.filter((each) => Date.parse(timeOf(each)) >= from)
  const end = start + BATCH
  return {
    body: { values: all.slice(start, end), isLastBatch: end >= all.length, continuationToken: `${from};${end}` },
  }
}

const told = ({ commits: _, threads: __, records: ___, ...record }: any) => record
const newest = (records: readonly any[]) => [...records].reverse()
const pullRequest = ({ pullRequests }: World, id: string) =>
  pullRequests.find(({ pullRequestId }) => pullRequestId === Number(id))
const isReadable = ({ repositories }: World, id: string | undefined) =>
  repositories.some((each) => each.id === id && !each.isDisabled)
const build = ({ builds }: World, id: string) => builds.find((each) => each.id === Number(id))

const TYPES = ['User Story', 'Bug', 'Incident', 'Task'].map((name) => ({
  name,
  referenceName: `Microsoft.VSTS.WorkItemTypes.${name.replace(' ', '')}`,
  states: [
    { name: 'New', category: 'Proposed' },
    { name: 'Active', category: 'InProgress' },
    { name: 'Shipped', category: 'Completed' },
    { name: 'Removed', category: 'Removed' },
  ],
}))

/** Routes below the organization. */
const ROUTES: readonly Route[] = [
  [/^projects$/, ({ projects }, _, query) => skipped(projects, query)],
  [
    /^projects\/([^/]+)$/,
    ({ projects }, [name]) => one(projects.find((each) => each.id === name || each.name === name)),
  ],
  [/^git\/repositories$/, ({ repositories }) => list(repositories)],
  // A disabled repository is listed, but nothing else about it can be read.
  [
    /^git\/repositories\/([^/]+)$/,
    ({ repositories }, [id]) => one(repositories.find((each) => each.id === id && !each.isDisabled)),
  ],
]
/** Routes below a project. */
const PROJECT_ROUTES: readonly Route[] = [
  ...ROUTES.slice(2),
  [
    /^git\/repositories\/([^/]+)\/pullrequests$/,
    (world, [id], query) =>
      isReadable(world, id)
        ? skipped(newest(world.pullRequests.filter(({ repository }) => repository.id === id)).map(told), query)
        : one(undefined),
  ],
  [
    /^git\/repositories\/([^/]+)\/pullRequests\/(\d+)\/commits$/,
    (world, [of, id = ''], query) =>
      isReadable(world, of) ? continued(pullRequest(world, id)?.commits ?? [], query) : one(undefined),
  ],
  [
    /^git\/repositories\/([^/]+)\/pullRequests\/(\d+)\/threads$/,
    (world, [of, id = '']) => (isReadable(world, of) ? list(pullRequest(world, id)?.threads ?? []) : one(undefined)),
  ],
  [
    /^build\/builds$/,
    ({ builds }, _, query) => {
      const wanted = query.get('repositoryId')
      return continued(newest(builds.filter(({ repository }) => !wanted || repository.id === wanted)).map(told), query)
    },
  ],
  [/^build\/builds\/(\d+)$/, (world, [id = '']) => one(build(world, id) && told(build(world, id)))],
  [
    /^build\/builds\/(\d+)\/timeline$/,
    (world, [id = '']) => one(build(world, id) && { records: build(world, id)?.records }),
  ],
  [/^distributedtask\/environments$/, ({ environments }, _, query) => continued(environments, query)],
  [
    /^distributedtask\/environments\/(\d+)\/environmentdeploymentrecords$/,
    ({ environmentRecords }, [id], query) =>
      continued(newest(environmentRecords.filter((each) => each.environmentId === Number(id))), query, 'top'),
  ],
  [
    /^release\/deployments$/,
    ({ deployments }, _, query) => {
      const from = Date.parse(query.get('minModifiedTime') ?? '') || 0
      return continued(newest(deployments.filter((each) => Date.parse(each.lastModifiedOn) >= from)), query)
    },
  ],
  [/^wit\/workitemtypes$/, () => list(TYPES)],
  [
    /^wit\/classificationnodes\/Iterations$/,
    ({ iterations }) => one({ id: 1, name: PROJECT.name, hasChildren: true, children: iterations }),
  ],
  [
    /^wit\/reporting\/workitemrevisions$/,
    ({ workItems }, _, query) => reported(workItems, ({ fields }) => fields['System.ChangedDate'], query),
  ],
  [
    /^wit\/reporting\/workitemlinks$/,
    ({ links }, _, query) => reported(links, ({ attributes }) => attributes.changedDate, query),
  ],
  [
    /^serviceendpoint\/endpoints$/,
    () =>
      list([
        { id: 'e1', type: 'github', name: 'GitHub' },
        { id: 'e2', type: 'azurerm', name: 'Azure' },
      ]),
  ],
  [
    /^sourceProviders\/github\/repositories$/,
    (_world, _match, query) => {
      const page = Number(query.get('continuationToken') ?? 1)
      const fullName = `acme/tool-${page}`
      const properties = { isPrivate: 'True', cloneUrl: `https://github.com/${fullName}.git` }
      return {
        body: {
          repositories: [
            { id: fullName, name: `tool-${page}`, fullName, url: `https://github.com/${fullName}`, properties },
          ],
        },
        ...(page < 2 && { headers: { 'x-ms-continuationtoken': String(page + 1) } }),
      }
    },
  ],
]

export function answerTo(world: World, { pathname, searchParams }: URL): Answer {
  const [organization, ...rest] = pathname.split('/').filter(Boolean).map(decodeURIComponent)
  if (organization !== ORGANIZATION || !searchParams.has('api-version'))
    return { status: 404, body: { message: pathname } }
  const at = rest.indexOf('_apis')
  const path = rest.slice(at + 1).join('/')
  const project = world.projects.find(({ id, name }) => rest[0] === id || rest[0] === name)
  if (at === 1 && !project) return { status: 404, body: { message: `TF200016: the project ${rest[0]} does not exist` } }
  for (const [pattern, answer] of at === 0 ? ROUTES : PROJECT_ROUTES) {
    const match = pattern.exec(path)
    if (match) return answer(world, match.slice(1), searchParams)
  }
  return { status: 404, body: { message: `no such place: ${path}` } }
}
