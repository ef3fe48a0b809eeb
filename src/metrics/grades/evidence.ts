/**
 * The evidence that a grade needs. A failure rate of zero is no merit where nobody would have known of an incident, and a handful
 * of deployments says nothing about a year. Each rule is here in two forms: as code for reading, and as a statement for
 * dashboards.
 */
import { sql } from 'kysely'
import { counted } from '../../basics/counted.ts'
import type { Dialect } from '../../database/dialect.ts'
import type { Sql } from '../calculate/calculation.ts'
import { NO_INCIDENTS, type NoData } from '../findings/no-data.ts'
import type { Expressed, Metric } from '../metric.ts'

const LEAST_DEPLOYMENTS = 10
const LEAST_WEEKS = 4

export interface Evidence {
  /** Deployments that count in the range. */
  readonly deployments: number
  /** Weeks from the first of these deployments to the last, with a week that has begun counted as a whole one. */
  readonly weeks: number
  /** True if an incident of the project would be known. */
  readonly knowsIncidents: boolean
  /** False if the policy could attribute no incident to a deployment. */
  readonly attributesIncidents: boolean
}

/** Why a value has no grade, in words that follow "no grade:", and what to do about it. */
export type NoGrade = NoData

export const NOTHING_KNOWN = 'no incident is known'
export const INCIDENTS_UNKNOWN: NoGrade = {
  because: `${NOTHING_KNOWN}: no rule has matched one at any time, and no source of incidents was collected`,
  remedy: NO_INCIDENTS.remedy,
}
/** Without an attribution, a rate of zero would claim that nothing failed. */
const NOTHING_ATTRIBUTED: NoGrade = {
  because: 'the policy attributes an incident to the service that its component names, and no component names one',
  remedy: 'Let the component of incidents be the name of what is deployed, or choose another policy.',
}
const TOO_FEW = ` are too few; a grade needs at least ${LEAST_DEPLOYMENTS} deployments within at least ${LEAST_WEEKS} weeks`
const MORE = 'Choose a longer time range. The explanation of deployment frequency says which deployments do not count.'

type MadeOf = Pick<Metric, 'madeOf'>
const needsIncidents = ({ madeOf }: MadeOf): boolean => madeOf.includes('incidents')
const attributes = (metric: MadeOf): boolean => needsIncidents(metric) && metric.madeOf.includes('deployments')

export function noGradeOf(metric: Pick<Metric, 'madeOf'>, evidence: Evidence): NoGrade | undefined {
  const { deployments, weeks, knowsIncidents, attributesIncidents } = evidence
  if (needsIncidents(metric) && !knowsIncidents) return INCIDENTS_UNKNOWN
  if (attributes(metric) && !attributesIncidents) return NOTHING_ATTRIBUTED
  if (deployments >= LEAST_DEPLOYMENTS && weeks >= LEAST_WEEKS) return undefined
  return { because: `${deploymentsIn(deployments, weeks)}${TOO_FEW}`, remedy: MORE }
}

/** `34 deployments in 26 weeks` */
export const deploymentsIn = (deployments: number, weeks: number): string =>
  `${counted(deployments, 'deployment')} in ${counted(weeks, 'week')}`

/** Does the same as `deploymentsIn`, for numbers in a SQL statement. */
export const deploymentsInSql = (deployments: Sql, buckets: Sql, bucket: 'week' | 'month' = 'week'): Sql => {
  const words = (count: Sql, one: string) =>
    sql`${count}, case when ${count} = 1 then ${sql.lit(` ${one}`)} else ${sql.lit(` ${one}s`)} end`
  return sql`concat(${words(deployments, 'deployment')}, ' in ', ${words(buckets, bucket)})`
}

/** Returns one row of `deployments` and `weeks`, or one for each group. The items must have a column `at`. */
export function deploymentEvidence(dialect: Dialect, items: Sql, groups: Readonly<Record<string, Sql>> = {}): Sql {
  const day = (moment: string) => dialect.startOf('day', moment)
  const days = sql.raw(dialect.daysBetween(day('min(at)'), day('max(at)')))
  const names = Object.entries(groups).map(([name, value]) => sql`${value} as ${sql.id(name)}`)
  const columns = [
    ...names,
    sql`count(*) as deployments`,
    sql`case when count(*) = 0 then 0 else floor(${days} / 7) + 1 end as weeks`,
  ]
  const grouping = names.length === 0 ? sql`` : sql`group by ${sql.join(Object.values(groups))}`
  return sql`select ${sql.join(columns)} from (${items}) deployed ${grouping}`
}

/**
 * Tells whether an incident of a project would be known: a rule has matched one at some time, or a list that holds only incidents
 * has been read completely.
 */
export function knowsIncidents(project: Expressed<string>): Sql {
  const table = sql.id('table')
  const mapped = sql`select 1 from project_mapping m`
  const ofBoards = sql`m.project_name = ${project} and m.${table} = 'boards'`
  return sql`(exists (${mapped} inner join incidents i on i.${table} = m.${table} and i.scope_id = m.row_id
      where m.project_name = ${project})
    or exists (${mapped} inner join board_issues b on b.board_id = m.row_id inner join issues i on i.id = b.issue_id
      where ${ofBoards} and i.type = 'INCIDENT')
    or exists (${mapped} inner join boards b on b.id = m.row_id inner join _weir_receipts r on r.params = b._raw_data_params
      where ${ofBoards} and b.id like concat(r.plugin, ':%') and r.tells_incidents = true
        and r.last_success_at is not null))`
}

/**
 * Returns why a metric of a statement has no grade, with the remedy, or null if it has a grade. The columns are those of
 * `deploymentEvidence`. `attributed` holds where the policy could attribute an incident to a deployment; null means that it
 * always could.
 */
export function noGradeSql(
  metrics: readonly Metric[],
  title: Sql,
  { known, attributed }: { readonly known: Sql; readonly attributed: Sql | null },
): Sql {
  const isOne = (some: readonly Metric[]) => sql`${title} in (${sql.join(some.map((metric) => sql.lit(metric.title)))})`
  const sentence = ({ because, remedy }: NoGrade) => sql.lit(`${because}. ${remedy}`)
  const unattributed = attributed
    ? sql`when ${isOne(metrics.filter(attributes))} and not ${attributed} then ${sentence(NOTHING_ATTRIBUTED)}`
    : sql``
  return sql`case when ${isOne(metrics.filter(needsIncidents))} and not ${known} then ${sentence(INCIDENTS_UNKNOWN)}
    ${unattributed}
    when deployments < ${sql.lit(LEAST_DEPLOYMENTS)} or weeks < ${sql.lit(LEAST_WEEKS)}
    then concat(${deploymentsInSql(sql`deployments`, sql`weeks`)}, ${sql.lit(`${TOO_FEW}. ${MORE}`)}) end`
}
