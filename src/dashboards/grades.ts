/** The bands of the DORA reports in SQL, with the same limits as in all other places. */
import { sql } from 'kysely'
import { BENCHMARKS } from '../domain/seeds.ts'
import { namesService } from '../metrics/blame.ts'
import type { Sql } from '../metrics/calculate/calculation.ts'
import { deploymentFrequency } from '../metrics/definitions/deployment-frequency.ts'
import { timeToRestore } from '../metrics/definitions/time-to-restore.ts'
import { BANDS, type Band, limitsOf, mayReach, REPORTS } from '../metrics/grades/benchmarks.ts'
import { deploymentEvidence, knowsIncidents, noGradeSql } from '../metrics/grades/evidence.ts'
import { fourKeys } from '../metrics/index.ts'
import type { Metric, Report } from '../metrics/metric.ts'
import type { Panel, PanelQuery } from './dashboard.ts'
import { countedItems, daysOf, metricValue, type Narrowing } from './statements.ts'

const NO_DATA = 'no data'
const NO_GRADE = 'no grade'
const GRADED: readonly Metric[] = [...fourKeys, timeToRestore]

export const gradesPanel = (narrowing?: (query: PanelQuery) => Narrowing): Panel => ({
  name: 'grades',
  title: 'How the four keys grade',
  definition:
    'Each key in the band of the chosen DORA report. The report of 2021 grades the time to restore service, that of 2023 the failed deployment recovery time. A key without data has no band. A key has no grade where incidents are not known, or with fewer than ten deployments or four weeks.',
  look: 'table',
  width: 24,
  height: 8,
  columns: {
    metric: { title: 'Key', kind: 'text' },
    band: { title: 'Band', kind: 'text' },
    meaning: { title: 'What the band means', kind: 'text' },
  },
  statement: (query) => gradeTable(query, narrowing?.(query)),
  remedy: 'The chosen report has no bands. Choose 2021 or 2023.',
})

/** Returns one row for each key metric that has a band in the report: `metric`, `band`, `meaning`. */
function gradeTable(query: PanelQuery, narrowing?: Narrowing): Sql {
  const keys = GRADED.map((metric, place) => {
    const byReport = REPORTS.filter((report) => metric.benchmark?.[report]).map(
      (report) => sql`when ${sql.lit(report)} then ${bandOf(metric, report)}`,
    )
    return sql`select ${sql.lit(place)} as place, ${sql.lit(metric.title)} as metric,
      case ${query.variable('dora_report')} ${sql.join(byReport, sql` `)} end as band, ${basisOf(metric)} as basis
      from (${figuresOf(query, metric, narrowing)}) figures`
  })
  const labels = GRADED.flatMap((metric) => REPORTS.map((report) => [metric, report] as const)).flatMap(
    ([metric, report]) =>
      BENCHMARKS.filter((row) => row.metric === metric.benchmark?.[report] && row.dora_report === report).flatMap(
        (row) =>
          BANDS.map(
            (
              band,
            ) => sql`when ${query.variable('dora_report')} = ${sql.lit(report)} and graded.metric = ${sql.lit(metric.title)} and graded.band = ${sql.lit(band)}
            then ${sql.lit(meaningOf(row[band]))}`,
          ),
      ),
  )
  const project = query.variable('project')
  const why = noGradeSql(GRADED, sql`graded.metric`, {
    known: knowsIncidents(project),
    attributed: query.policy.blameByService ? namesService(query.dialect, project) : null,
  })
  const meaning = sql`case ${sql.join(labels, sql` `)} else 'Nothing in the range can be graded.' end`
  const placed = sql`select graded.place, graded.metric, graded.band, concat(${meaning}, graded.basis) as meaning,
    case when graded.band <> ${sql.lit(NO_DATA)} then ${why} end as why from (${sql.join(keys, sql` union all `)}) graded
    cross join (${deploymentEvidence(query.dialect, countedItems(query, deploymentFrequency, narrowing))}) evidence
    where graded.band is not null`
  return sql`select metric, case when why is null then band else ${sql.lit(NO_GRADE)} end as band, coalesce(why, meaning) as meaning
    from (${placed}) placed order by place`
}

/** Removes the name of the band, which has its own column. */
const meaningOf = (label: string) => label.replace(/\(\w+\)$/, '')

/** The numbers that decide the band, for deployment frequency, whose band depends on neither a sum nor a mean. */
const basisOf = (metric: Metric): Sql =>
  metric === deploymentFrequency
    ? sql`case when value is null then '' else concat(', by the days with a deployment: ', value, ' of the median week and ', monthly, ' of the median month') end`
    : sql`''`

/** `value`, and for deployments `monthly`. */
const figuresOf = (query: PanelQuery, metric: Metric, narrowing?: Narrowing): Sql =>
  metric === deploymentFrequency
    ? sql`select weekly.value, coalesce(monthly.value, weekly.counted) as monthly
        from (${metricValue(query, metric, narrowing)}) weekly cross join (${daysOf(query, metric, 'month', narrowing)}) monthly`
    : metricValue(query, metric, narrowing)

function bandOf(metric: Metric, report: Report): Sql {
  const then = (condition: Sql, band: Band | typeof NO_DATA) => sql`when ${condition} then ${sql.lit(band)}`
  const missing = then(sql`value is null`, NO_DATA)
  const limits = limitsOf(metric, report)
  if (limits) {
    const comparison = sql.raw(mayReach(metric.benchmark?.[report] ?? '') ? '<=' : '<')
    const cases = limits.map((limit, index) => then(sql`value ${comparison} ${sql.lit(limit)}`, BANDS[index] as Band))
    return sql`case ${missing} ${sql.join(cases, sql` `)} else 'low' end`
  }
  // If the range has a day with a deployment, half a year has at least one.
  return report === '2023'
    ? sql`case ${missing} when value >= 5 then 'elite' when value >= 1 then 'high' when monthly >= 1 then 'medium' else 'low' end`
    : sql`case ${missing} when value >= 5 then 'elite' when monthly >= 1 then 'high' else 'medium' end`
}
