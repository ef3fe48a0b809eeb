/** Turns what a request asks of metrics into a filter. Names become ids, and unknown names are answered with the known ones. */
import { sql } from 'kysely'
import type { z } from 'zod'
import { unknownName } from '../basics/nearest.ts'
import { idOf, projectsOfWhose, teamsOf, wholeOfProjects } from '../control-plane/groups/whole.ts'
import type { Database } from '../database/database.ts'
import { ENVIRONMENTS } from '../domain/enums.ts'
import { UserError } from '../errors.ts'
import type { Whose } from '../metrics/answer/answer.ts'
import { mapping } from '../metrics/calculate/calculation.ts'
import { metricNamed, metrics } from '../metrics/index.ts'
import type { Metric, MetricFilter } from '../metrics/metric.ts'
import { definitionOf } from '../metrics/parts.ts'
import { POLICIES, rolloutsIn } from '../metrics/policy/policy.ts'
import { checkRange } from '../metrics/read/read.ts'
import { type Asked, metricOf, projectsOf, type Whole } from '../metrics/whole.ts'
import type { plainQuery, valueQuery } from './contract/metrics.ts'

/** Six months up to now, unless the request names a range. */
export function rangeOf({ from, to = new Date() }: { from?: Date | undefined; to?: Date | undefined }) {
  const range = { from: from ?? new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() - 6, to.getUTCDate())), to }
  checkRange(range)
  return range
}

type Query = z.output<typeof plainQuery>

/** The filter of one project. */
export async function projectFilterOf(
  database: Database,
  query: Omit<Query, 'all'> & { readonly project: string },
): Promise<MetricFilter> {
  const [part] = (await filterOf(database, { ...query, group: undefined, all: undefined })).parts
  return part as MetricFilter
}

/** Whose metrics the request asks for. A team alone means its work in all projects. */
function whoseOf({ project, team, group, all }: Pick<Query, 'project' | 'team' | 'group' | 'all'>): Whose {
  const named = [project !== undefined && 'project', group !== undefined && 'group', all === true && 'all']
  const chosen = named.filter((each) => each !== false)
  if (chosen.length > 1) {
    throw new UserError(`The request asks for ${chosen.join(' and ')} at once: choose one. A team may narrow it.`)
  }
  if (project !== undefined) return { kind: 'project', name: project }
  if (group !== undefined) return { kind: 'group', name: group }
  if (all === true) return { kind: 'all', name: null }
  if (team !== undefined) return { kind: 'team', name: team }
  throw new UserError('Say whose metrics you want: name a project, a team or a group, or send all=true.')
}

async function filterOf(database: Database, query: Query): Promise<Whole> {
  const { environment } = query
  const range = rangeOf(query)
  const whose = whoseOf(query)
  const projects = await projectsOfWhose(database, whose)
  await requireEnvironment(database, projects, environment)
  const named = async (what: string, asked: string | undefined, list: () => ReturnType<typeof teamsOf>) =>
    asked === undefined ? undefined : idOf(what, asked, list)
  const repository = await named('repository', query.repository, () => repositoriesOf(database, projects))
  const team = await named('team', query.team, () => teamsOf(database))
  const counting = POLICIES.find(({ name }) => name === query.policy)
  const shared = { environment, repository, team, reading: query.reading, from: range.from, to: range.to }
  return wholeOfProjects(database, projects, shared, (own) => {
    const { issueCategories, component } = own
    const service = {
      categories: query.issueCategory ?? issueCategories,
      component: query.component ?? component,
    }
    return { policy: counting ? { ...counting.policy, issueCategories, component } : own, service }
  })
}

/** The part of an answer that describes its metric, counted by the policy. */
export function aboutMetric(metric: Metric, asked: Asked) {
  const { name, title, unit, better, summary } = metricOf(metric, asked)
  const rollouts = rolloutsIn(asked.policy)
  return { metric: name, title, unit, better, summary, definition: definitionOf(metric, asked), rollouts }
}

export interface AskedFor {
  readonly metric: Metric
  readonly whose: Whose
  /** One project, or several as one. */
  readonly filter: Asked
  /** The filter, if it is of one project. */
  readonly own: MetricFilter | undefined
}

/** The metric in the path, and the filter from the query. */
export async function askedFor(
  database: Database,
  { metric: name }: { readonly metric: string },
  query: Query,
): Promise<AskedFor> {
  const metric = metricNamed(name)
  if (query.reading !== 'known' && !metric.hasReadings) {
    const names = metrics.filter(({ hasReadings }) => hasReadings).map((each) => each.name)
    throw new UserError(`${name} has no reading ${query.reading}: leave it out. These have one: ${names.join(', ')}.`)
  }
  return { metric, ...(await wholeAskedFor(database, query)) }
}

/** Whose items the query asks for, and the filter for them. */
export async function wholeAskedFor(database: Database, query: Query): Promise<Omit<AskedFor, 'metric'>> {
  const whole = await filterOf(database, query)
  const whose = whoseOf(query)
  const own = whose.kind === 'project' ? whole.parts[0] : undefined
  return { whose, filter: own ?? whole, own }
}

/** Environments that the domain defines, valid even if nothing was deployed there. */
const STANDARD: readonly string[] = ENVIRONMENTS.filter((each) => each !== '')

async function requireEnvironment(database: Database, projects: readonly string[], environment: string): Promise<void> {
  if (STANDARD.includes(environment)) return
  const known = await environmentsOf(database, projects)
  if (known.includes(environment)) return
  throw unknownName('environment', environment, [...new Set([...STANDARD, ...known])])
}

type Named = Awaited<ReturnType<typeof teamsOf>>[number]

async function environmentsOf({ kysely }: Database, projects: readonly string[]): Promise<string[]> {
  const { from, where } = mapping('scope', 'cicd_scopes', projects)
  const { rows } = await sql<{ name: string }>`select distinct c.environment as name
    from ${from} inner join cicd_deployment_commits c on c.cicd_scope_id = scope.row_id
    where ${where} and c.environment <> '' order by name`.execute(kysely)
  return rows.map(({ name }) => name)
}

async function repositoriesOf({ kysely }: Database, projects: readonly string[]): Promise<Named[]> {
  const { from, where } = mapping('repo', 'repos', projects)
  const { rows } = await sql<Named>`select distinct repo.row_id as id, coalesce(r.name, '') as name
    from ${from} left join repos r on r.id = repo.row_id where ${where} order by id`.execute(kysely)
  return rows
}

type Grouping = z.output<typeof valueQuery>['groupBy']
interface Group {
  readonly group: string | null
  readonly name: string | null
  readonly environment?: string
  readonly repository?: string
  readonly team?: string
}

/** The most groups of one answer, each of which is a statement of its own. */
const MOST_GROUPS = 200

export async function groupsOf(database: Database, asked: Asked, by: Grouping): Promise<Group[]> {
  if (!by) return [{ group: null, name: null }]
  const projects = projectsOf(asked)
  const listed = await {
    environment: async () => (await environmentsOf(database, projects)).map((name) => ({ id: name, name })),
    repository: () => repositoriesOf(database, projects),
    team: () => teamsOf(database),
  }[by]()
  if (listed.length > MOST_GROUPS && !('project' in asked)) {
    throw new UserError(
      `There are more than ${MOST_GROUPS} (${listed.length}) to group by: ask for a project or a smaller group.`,
    )
  }
  return listed.map(({ id, name }) => ({ group: id, name: name || id, [by]: id }))
}

/** The same filter for one environment, repository or team. */
export const narrowedTo = (asked: Asked, narrowing: Pick<Group, 'environment' | 'repository' | 'team'>): Asked =>
  'parts' in asked
    ? { ...asked, ...narrowing, parts: asked.parts.map((part) => ({ ...part, ...narrowing })) }
    : { ...asked, ...narrowing }
