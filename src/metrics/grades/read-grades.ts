/** Grades values for which there is enough evidence. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { namesService } from '../blame.ts'
import type { Sql } from '../calculate/calculation.ts'
import { deploymentFrequency } from '../definitions/deployment-frequency.ts'
import type { Metric, MetricFilter } from '../metric.ts'
import { placeIn, stacked } from '../read/stacked.ts'
import { type Grade, gradeOf, REPORTS } from './benchmarks.ts'
import { deploymentEvidence, type Evidence, knowsIncidents, type NoGrade, noGradeOf } from './evidence.ts'
import type { Frequency } from './frequency.ts'

interface Graded {
  readonly grades: readonly Grade[]
  readonly noGrade?: NoGrade
}
interface Gradable {
  readonly value: number | null
  readonly frequency?: Frequency
}

/** Grades the value of each filter. */
export async function readGrades(
  database: Database,
  metric: Metric,
  filters: readonly MetricFilter[],
  values: readonly Gradable[],
): Promise<Graded[]> {
  const asked = values.flatMap(({ value }, place) => (metric.benchmark && value !== null ? [place] : []))
  const found = await readEvidence(
    database,
    asked.map((place) => filters[place] as MetricFilter),
  )
  const evidence = new Map(asked.map((place, index) => [place, found[index] as Evidence]))
  return values.map(({ value, frequency }, place) => {
    const own = evidence.get(place)
    if (!own) return { grades: [] }
    const noGrade = noGradeOf(metric, own)
    if (noGrade) return { grades: [], noGrade }
    return { grades: REPORTS.flatMap((report) => gradeOf(metric, report, value, frequency) ?? []) }
  })
}

interface Deployed {
  readonly place?: number
  readonly deployments: number
  readonly weeks: number
}

async function readEvidence(database: Database, filters: readonly MetricFilter[]): Promise<Evidence[]> {
  if (filters.length === 0) return []
  const { dialect, kysely } = database
  const items = sql`select * from (${stacked(database, deploymentFrequency, filters, false)}) every_item where reason is null`
  const { rows } = await deploymentEvidence(dialect, items, placeIn(filters)).$castTo<Deployed>().execute(kysely)
  const deployed = new Map(rows.map((row) => [Number(row.place ?? 0), row]))
  const known = await projectsKnowingIncidents(database, [...new Set(filters.map(({ project }) => project))])
  const byService = filters.filter(({ policy }) => policy.blameByService).map(({ project }) => project)
  const named = await projectsWhere(kysely, [...new Set(byService)], (project) => namesService(dialect, project))
  return filters.map(({ project, policy }, place) => ({
    deployments: Number(deployed.get(place)?.deployments ?? 0),
    weeks: Number(deployed.get(place)?.weeks ?? 0),
    knowsIncidents: known.has(project),
    attributesIncidents: !policy.blameByService || named.has(project),
  }))
}

/** Returns the projects whose incidents would be known. */
export const projectsKnowingIncidents = (
  { kysely }: Pick<Database, 'kysely'>,
  projects: readonly string[],
): Promise<Set<string>> => projectsWhere(kysely, projects, knowsIncidents)

async function projectsWhere(
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
