/** Turns what a request asks of metrics into a filter. Names become ids, and unknown names are answered with the known ones. */
import { sql } from 'kysely'
import type { z } from 'zod'
import { shortName, unknownName } from '../basics/nearest.ts'
import { policyOfProject } from '../control-plane/projects/project-policy.ts'
import { unknownProject } from '../control-plane/projects/unknown-project.ts'
import type { Database } from '../database/database.ts'
import { ENVIRONMENTS } from '../domain/enums.ts'
import { UserError } from '../errors.ts'
import { mapped } from '../metrics/calculate/calculation.ts'
import { metricNamed, metrics } from '../metrics/index.ts'
import type { Metric, MetricFilter } from '../metrics/metric.ts'
import { definitionOf, underPolicy } from '../metrics/parts.ts'
import { POLICIES, rolloutsIn } from '../metrics/policy/policy.ts'
import { checkRange } from '../metrics/read/read.ts'
import type { plainQuery, valueQuery } from './contract/metrics.ts'

/** Six months up to now, unless the request names a range. */
export function rangeOf({ from, to = new Date() }: { from?: Date | undefined; to?: Date | undefined }) {
  const range = { from: from ?? new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() - 6, to.getUTCDate())), to }
  checkRange(range)
  return range
}

export async function filterOf(database: Database, query: z.output<typeof plainQuery>): Promise<MetricFilter> {
  const { project, environment } = query
  const range = rangeOf(query)
  await requireProject(database, project)
  await requireEnvironment(database, project, environment)
  const repository = await idOf('repository', query.repository, () => repositoriesOf(database, project))
  const team = await idOf('team', query.team, () => teamsOf(database))
  const own = await policyOfProject(database, project)
  const named = POLICIES.find(({ name }) => name === query.policy)
  const { issueCategories, component } = own
  const policy = named ? { ...named.policy, issueCategories, component } : own
  const service = {
    categories: query.issueCategory ?? issueCategories,
    component: query.component ?? component,
  }
  return { project, environment, repository, team, policy, service, reading: query.reading, ...range }
}

/** The part of an answer that describes its metric, counted by the policy. */
export function aboutMetric(metric: Metric, filter: Pick<MetricFilter, 'policy' | 'reading'>) {
  const { name, title, unit, better, summary } = underPolicy(metric, filter)
  const rollouts = rolloutsIn(filter.policy)
  return { metric: name, title, unit, better, summary, definition: definitionOf(metric, filter), rollouts }
}

/** The metric in the path, and the filter from the query. */
export async function askedFor(
  database: Database,
  { metric: name }: { readonly metric: string },
  query: z.output<typeof plainQuery>,
): Promise<{ metric: Metric; filter: MetricFilter }> {
  const metric = metricNamed(name)
  if (query.reading !== 'known' && !metric.hasReadings) {
    const names = metrics.filter(({ hasReadings }) => hasReadings).map((each) => each.name)
    throw new UserError(`${name} has no reading ${query.reading}: leave it out. These have one: ${names.join(', ')}.`)
  }
  return { metric, filter: await filterOf(database, query) }
}

/** A name also counts as a project if rows are mapped to it, whoever mapped them. */
export async function requireProject({ kysely }: Database, project: string): Promise<void> {
  const { rows } = await sql`select 1 from projects where name = ${project}
    union select 1 from project_mapping where project_name = ${project}`.execute(kysely)
  if (rows.length === 0) throw await unknownProject(kysely, project)
}

/** Environments that the domain defines, valid even if nothing was deployed there. */
const STANDARD: readonly string[] = ENVIRONMENTS.filter((each) => each !== '')

async function requireEnvironment(database: Database, project: string, environment: string): Promise<void> {
  if (STANDARD.includes(environment)) return
  const known = await environmentsOf(database, project)
  if (known.includes(environment)) return
  throw unknownName('environment', environment, [...new Set([...STANDARD, ...known])])
}

interface Named {
  readonly id: string
  readonly name: string
}

async function idOf(
  what: string,
  asked: string | undefined,
  list: () => Promise<Named[]>,
): Promise<string | undefined> {
  if (asked === undefined) return undefined
  const known = await list()
  if (known.some(({ id }) => id === asked)) return asked
  const namesakes = known.filter(({ name }) => name === asked)
  if (namesakes.length > 1) {
    const ids = namesakes.map(({ id }) => id).join(', ')
    throw new UserError(`More than one ${what} is called ${shortName(asked)}: ask for one by its id: ${ids}.`)
  }
  if (namesakes[0]) return namesakes[0].id
  throw unknownName(
    what,
    asked,
    known.map(({ id, name }) => name || id),
  )
}

async function environmentsOf({ kysely }: Database, project: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select distinct environment as name from cicd_deployment_commits
    where cicd_scope_id in (${mapped('cicd_scopes', project)}) and environment <> '' order by environment`.execute(
    kysely,
  )
  return rows.map(({ name }) => name)
}

async function repositoriesOf({ kysely }: Database, project: string): Promise<Named[]> {
  const { rows } = await sql<Named>`select own.row_id as id, coalesce(r.name, '') as name
    from (${mapped('repos', project)}) own left join repos r on r.id = own.row_id order by own.row_id`.execute(kysely)
  return rows
}

async function teamsOf({ kysely }: Database): Promise<Named[]> {
  const { rows } = await sql<Named>`select id, coalesce(name, '') as name from teams order by id`.execute(kysely)
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

export async function groupsOf(database: Database, { project }: MetricFilter, by: Grouping): Promise<Group[]> {
  if (!by) return [{ group: null, name: null }]
  const listed = {
    environment: async () => (await environmentsOf(database, project)).map((name) => ({ id: name, name })),
    repository: () => repositoriesOf(database, project),
    team: () => teamsOf(database),
  }[by]
  return (await listed()).map(({ id, name }) => ({ group: id, name: name || id, [by]: id }))
}
