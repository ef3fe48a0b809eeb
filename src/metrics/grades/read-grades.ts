/** Grades values for which there is enough evidence. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { namesService } from '../blame.ts'
import { isOneOf, type Sql } from '../calculate/calculation.ts'
import { deploymentFrequency } from '../definitions/deployment-frequency.ts'
import type { Metric } from '../metric.ts'
import { placeIn, stacked } from '../read/stacked.ts'
import { partsOf, projectsOf, type Whole } from '../whole.ts'
import { type Grade, gradeOf, REPORTS } from './benchmarks.ts'
import { deploymentEvidence, type Evidence, knowsIncidents, type NoGrade, noGradeOf } from './evidence.ts'
import type { Frequency } from './frequency.ts'

interface Graded {
  readonly grades: readonly Grade[]
  readonly noGrade?: NoGrade
}
interface Gradable {
  readonly value: number | null
  readonly frequency?: Frequency | undefined
}

/** Grades the value of each filter. */
export async function readGrades(
  database: Database,
  metric: Metric,
  filters: readonly Whole[],
  values: readonly Gradable[],
): Promise<Graded[]> {
  const asked = values.flatMap(({ value }, place) => (metric.benchmark && value !== null ? [place] : []))
  const found = await readEvidence(
    database,
    asked.map((place) => filters[place] as Whole),
  )
  const evidence = new Map(asked.map((place, index) => [place, found[index] as Evidence]))
  return values.map(({ value, frequency }, place) => {
    const own = evidence.get(place)
    return own ? graded(metric, own, { value, frequency }) : { grades: [] }
  })
}

/** Grades a value, if the evidence suffices. */
export function graded(metric: Metric, evidence: Evidence, { value, frequency }: Gradable): Graded {
  const noGrade = noGradeOf(metric, evidence)
  if (noGrade) return { grades: [], noGrade }
  return { grades: REPORTS.flatMap((report) => gradeOf(metric, report, value, frequency) ?? []) }
}

interface Deployed {
  readonly place?: number
  readonly deployments: number
  readonly weeks: number
}

export async function readEvidence(database: Database, filters: readonly Whole[]): Promise<Evidence[]> {
  if (filters.length === 0) return []
  const { dialect, kysely } = database
  const items = sql`select * from (${stacked(database, deploymentFrequency, filters, false)}) every_item where reason is null`
  const { rows } = await deploymentEvidence(dialect, items, placeIn(filters)).$castTo<Deployed>().execute(kysely)
  const deployed = new Map(rows.map((row) => [Number(row.place ?? 0), row]))
  const active = await projectsDeploying(database, items, filters)
  const known = await projectsKnowingIncidents(database, [...new Set(active.flat())])
  const byService = filters.flatMap((filter) =>
    partsOf(filter).flatMap(({ project, policy }) => (policy.blameByService ? [project] : [])),
  )
  const named = await projectsNaming(kysely, [...new Set(byService)], (project) => namesService(dialect, project))
  return filters.map((filter, place) => ({
    deployments: Number(deployed.get(place)?.deployments ?? 0),
    weeks: Number(deployed.get(place)?.weeks ?? 0),
    // Where one project would not know of a failure, a rate of all of them is no evidence.
    knowsIncidents: (active[place] ?? []).every((project) => known.has(project)),
    attributesIncidents: partsOf(filter).every(({ project, policy }) => !policy.blameByService || named.has(project)),
  }))
}

/** For each filter, the projects to be asked for incidents: of several, those with a deployment that counts. */
async function projectsDeploying(
  { kysely }: Pick<Database, 'kysely'>,
  items: Sql,
  filters: readonly Whole[],
): Promise<string[][]> {
  if (filters.every(({ parts }) => parts.length === 1)) return filters.map(projectsOf)
  const columns = sql.join([...Object.values(placeIn(filters)), sql`project`])
  const { rows } = await sql<{
    place?: number
    project: string
  }>`select distinct ${columns} from (${items}) deployed`.execute(kysely)
  const byPlace = Map.groupBy(rows, ({ place = 0 }) => Number(place))
  return filters.map((filter, place) =>
    filter.parts.length === 1 ? projectsOf(filter) : (byPlace.get(place) ?? []).map(({ project }) => project),
  )
}

/** Returns the projects whose incidents would be known. */
export async function projectsKnowingIncidents(
  { kysely }: Pick<Database, 'kysely'>,
  projects: readonly string[],
): Promise<Set<string>> {
  if (projects.length === 0) return new Set()
  const { rows } = await sql<{ project: string }>`select distinct asked.project_name as project
    from (select distinct project_name from project_mapping where ${isOneOf(sql`project_name`, projects)}) asked
    where ${knowsIncidents(sql`asked.project_name`)}`.execute(kysely)
  return new Set(rows.map(({ project }) => project))
}

async function projectsNaming(
  kysely: Database['kysely'],
  projects: readonly string[],
  holds: (project: string) => Sql,
): Promise<Set<string>> {
  if (projects.length === 0) return new Set()
  const each = projects.map(
    (project, place) => sql`select place from (select ${sql.lit(place)} as place) one where ${holds(project)}`,
  )
  const { rows } = await sql<{ place: number }>`${sql.join(each, sql` union all `)}`.execute(kysely)
  return new Set(rows.flatMap(({ place }) => projects[Number(place)] ?? []))
}
