/** The fake's routes, with the parameters that GitLab documents for each address. */
import type { Feature, Project } from './records.ts'
import * as shape from './shapes.ts'
import type { World } from './world.ts'

export interface Asked {
  readonly world: World
  readonly now: number
  readonly query: URLSearchParams
  /** The matches of the path's pattern. */
  readonly parts: readonly string[]
}
export type Found =
  | { readonly list: readonly any[]; readonly shaped?: (record: any) => unknown }
  | { readonly one: unknown }
  | { readonly status: number; readonly message: string }
  | { readonly location: string }

export interface Route {
  readonly template: string
  readonly pattern: RegExp
  readonly parameters: readonly string[]
  /** Whether the list supports keyset paging. */
  readonly hasKeyset?: boolean
  readonly feature?: Feature
  find(asked: Asked): Found
}

const gone: Found = { status: 404, message: '404 Not found' }
const PAGES = ['page', 'per_page']
const KEYSET = ['pagination', 'cursor']
const CHANGED = ['updated_after', 'updated_before', 'order_by', 'sort']

const projectOf = ({ world, parts }: Asked) =>
  world.projects.find(({ id, isDeleted }) => id === Number(parts[0]) && !isDeleted)

interface InProject {
  readonly parameters?: readonly string[]
  readonly hasKeyset?: boolean
  readonly feature?: Feature
  find(project: Project, asked: Asked): Found
}
/** An address below a project. It is refused if the project is deleted or the feature switched off. */
function inProject(path: string, { parameters = [], find, feature, ...rest }: InProject): Route {
  const template = `/projects/{id}/${path}`
  return {
    ...rest,
    ...(feature && { feature }),
    template,
    pattern: patternOf(template),
    parameters: [...PAGES, ...parameters],
    find(asked) {
      const project = projectOf(asked)
      if (!project) return { status: 404, message: '404 Project Not Found' }
      const status = feature && project.disabled.get(feature)
      if (status) return { status, message: status === 403 ? '403 Forbidden' : '404 Not Found' }
      return find(project, asked)
    },
  }
}
const patternOf = (template: string) => new RegExp(`^${template.replace(/\{\w+\}/g, '([^/]+)')}$`)
const route = (template: string, parameters: readonly string[], find: Route['find'], hasKeyset = false): Route => ({
  template,
  pattern: patternOf(template),
  parameters,
  find,
  hasKeyset,
})

/** Returns records changed since a time, in the requested order. */
function byChange<Thing extends { updatedAt: string | null; createdAt: string; id: number }>(
  things: readonly Thing[],
  { query }: Asked,
): Thing[] {
  const after = query.get('updated_after')
  const since = after ? Date.parse(after) : Number.NEGATIVE_INFINITY
  const by = query.get('order_by') === 'updated_at' ? 'updatedAt' : query.get('order_by') === 'id' ? 'id' : 'createdAt'
  const sign = query.get('sort') === 'asc' ? 1 : -1
  // As in PostgreSQL, records without a time come last, and a filter excludes them.
  const placeOf = (thing: Thing) => thing[by] ?? '~'
  return things
    .filter(({ updatedAt }) => after === null || (updatedAt !== null && Date.parse(updatedAt) >= since))
    .sort(
      (one, other) =>
        sign * (placeOf(one) < placeOf(other) ? -1 : placeOf(one) > placeOf(other) ? 1 : one.id - other.id),
    )
}

const mergeRequestOf = (project: Project, { parts }: Asked) =>
  project.mergeRequests.find(({ iid }) => iid === Number(parts[1]))
const pipelineOf = (project: Project, { parts }: Asked) => project.pipelines.find(({ id }) => id === Number(parts[1]))
const jobsOf =
  (kind: 'jobs' | 'bridges') =>
  (project: Project, asked: Asked): Found => {
    const pipeline = pipelineOf(project, asked)
    if (!pipeline) return gone
    const statuses = asked.query.getAll('scope[]')
    const list = pipeline[kind].filter(({ status }) => statuses.length === 0 || statuses.includes(status))
    return { list, shaped: (job) => shape.job(job, { pipeline, project }) }
  }
const projectsIn = (world: World, path: string) =>
  world.projects.filter((each) => !each.isDeleted && each.path.split('/').slice(0, -1).join('/') === path)
const wanted = (projects: readonly Project[], { query }: Asked) =>
  projects.filter(
    ({ archived, path }) =>
      (query.get('archived') === null || String(archived) === query.get('archived')) &&
      path.toLowerCase().includes((query.get('search') ?? '').toLowerCase()),
  )
const groupOf = ({ world, parts }: Asked) =>
  world.groups.find(({ id, path }) => String(id) === parts[0] || path === decodeURIComponent(parts[0] ?? ''))

const LISTED = ['archived', 'min_access_level', 'order_by', 'sort', 'search', ...PAGES, ...KEYSET]

export const ROUTES: readonly Route[] = [
  route('/version', [], () => ({ one: { version: '17.5.0', revision: 'fake' } })),
  route('/groups', ['top_level_only', 'min_access_level', ...PAGES], ({ world }) => ({
    list: world.groups.filter(({ path }) => !path.includes('/')),
    shaped: shape.group,
  })),
  route('/groups/{id}/subgroups', ['min_access_level', ...PAGES], (asked) => {
    const group = groupOf(asked)
    if (!group) return gone
    const isChild = (path: string) =>
      path.startsWith(`${group.path}/`) && !path.slice(group.path.length + 1).includes('/')
    return { list: asked.world.groups.filter(({ path }) => isChild(path)), shaped: shape.group }
  }),
  route('/groups/{id}/projects', ['include_subgroups', ...LISTED], (asked) => {
    const group = groupOf(asked)
    return group ? { list: wanted(projectsIn(asked.world, group.path), asked), shaped: shape.project } : gone
  }),
  route('/users/{id}/projects', LISTED, (asked) => {
    const user = asked.world.users.find(({ id }) => id === Number(asked.parts[0]))
    return user ? { list: wanted(projectsIn(asked.world, user.username), asked), shaped: shape.project } : gone
  }),
  route(
    '/projects',
    ['membership', 'search_namespaces', ...LISTED],
    (asked) => ({ list: wanted(asked.world.projects, asked), shaped: shape.project }),
    true,
  ),
  route('/projects/{id}', [], (asked) => {
    const project = projectOf(asked)
    return project ? { one: shape.project(project) } : { status: 404, message: '404 Project Not Found' }
  }),
  inProject('members/all', { find: ({ members }) => ({ list: members, shaped: shape.member }) }),
  inProject('issues', {
    feature: 'issues',
    parameters: ['scope', 'state', ...CHANGED],
    find: (project, asked) => ({ list: byChange(project.issues, asked), shaped: (each) => shape.issue(each, project) }),
  }),
  inProject('merge_requests', {
    feature: 'merge_requests',
    parameters: ['scope', 'state', ...CHANGED],
    find: (project, asked) => ({
      list: byChange(project.mergeRequests, asked),
      shaped: (each) => shape.mergeRequest(each, project),
    }),
  }),
  inProject('merge_requests/{iid}', {
    feature: 'merge_requests',
    find(project, asked) {
      const found = mergeRequestOf(project, asked)
      return found ? { one: shape.mergeRequest(found, project) } : gone
    },
  }),
  inProject('merge_requests/{iid}/notes', {
    feature: 'merge_requests',
    parameters: ['order_by', 'sort', 'activity_filter'],
    find(project, asked) {
      const found = mergeRequestOf(project, asked)
      return found ? { list: found.notes.toReversed(), shaped: (each) => shape.note(each, found) } : gone
    },
  }),
  inProject('merge_requests/{iid}/commits', {
    feature: 'merge_requests',
    find(project, asked) {
      const found = mergeRequestOf(project, asked)
      return found ? { list: found.commits.toReversed(), shaped: (each) => shape.commit(each, project) } : gone
    },
  }),
  inProject('pipelines', {
    feature: 'pipelines',
    parameters: ['source', 'status', 'ref', ...CHANGED],
    find(project, asked) {
      const source = asked.query.get('source')
      const isWanted = (each: string) => (source ? each === source : each !== 'parent_pipeline')
      const list = project.pipelines.filter((each) => isWanted(each.source))
      return { list: byChange(list, asked), shaped: (each) => shape.pipeline(each, project) }
    },
  }),
  inProject('pipelines/{pipeline}', {
    feature: 'pipelines',
    find(project, asked) {
      const found = pipelineOf(project, asked)
      return found ? { one: shape.pipelineDetails(found, project) } : gone
    },
  }),
  inProject('pipelines/{pipeline}/jobs', {
    feature: 'pipelines',
    parameters: ['scope[]', 'include_retried'],
    find: jobsOf('jobs'),
  }),
  inProject('pipelines/{pipeline}/bridges', { feature: 'pipelines', parameters: ['scope[]'], find: jobsOf('bridges') }),
  inProject('jobs', {
    feature: 'pipelines',
    parameters: ['scope[]', 'order_by', 'sort', ...KEYSET],
    hasKeyset: true,
    find: (project) => ({
      list: project.pipelines.flatMap((pipeline) => pipeline.jobs.map((job) => ({ id: job.id, job, pipeline }))),
      shaped: ({ job, pipeline }) => shape.job(job, { pipeline, project }),
    }),
  }),
  inProject('environments', {
    feature: 'deployments',
    parameters: ['search', 'states'],
    find: ({ deployments }) => ({
      list: [...new Set(deployments.map(({ environment }) => environment))].map((name, id) => ({ id, name })),
    }),
  }),
  inProject('deployments', {
    feature: 'deployments',
    parameters: ['environment', 'status', ...CHANGED],
    find(project, asked) {
      const { query } = asked
      if ((query.has('updated_after') || query.has('updated_before')) && query.get('order_by') !== 'updated_at') {
        return { status: 400, message: '400 Bad request - `updated_at` filter and `updated_at` sorting must be paired' }
      }
      return { list: byChange(project.deployments, asked), shaped: (each) => shape.deployment(each, project) }
    },
  }),
  inProject('releases', {
    feature: 'releases',
    parameters: ['order_by', 'sort', 'include_html_description'],
    find: (project, { now }) => ({
      list: byRelease(project),
      shaped: (each) => shape.release(each, project, now),
    }),
  }),
  inProject('releases/permalink/latest', {
    feature: 'releases',
    find(project, { now }) {
      const latest = byRelease(project).find(({ releasedAt }) => Date.parse(releasedAt) <= now)
      return latest ? { location: `/projects/${project.id}/releases/${latest.tag}` } : gone
    },
  }),
  inProject('releases/{tag}', {
    feature: 'releases',
    find(project, { parts, now }) {
      const found = project.releases.find(({ tag }) => tag === parts[1])
      return found ? { one: shape.release(found, project, now) } : gone
    },
  }),
  inProject('repository/tags', {
    feature: 'repository',
    parameters: ['order_by', 'sort', 'search'],
    find: ({ releases }) => ({ list: releases, shaped: shape.tag }),
  }),
]

const byRelease = ({ releases }: Project) =>
  releases.toSorted((one, other) => (one.releasedAt < other.releasedAt ? 1 : -1))
