/** Compares incidents of chosen categories and components with the deployments of a project. */

import { counted } from '../../basics/counted.ts'
import { measureOne, measureSeries } from '../../control-plane/projects/measure.ts'
import { deploymentFrequency } from '../../metrics/definitions/deployment-frequency.ts'
import { serviceIncidentCount } from '../../metrics/definitions/service-incident-count.ts'
import { serviceReport } from '../../metrics/index.ts'
import type { MetricFilter } from '../../metrics/metric.ts'
import { readMetric } from '../../metrics/read/read.ts'
import { categoryTable, NO_CATEGORY_FIELD } from '../../metrics/service/service-incidents.ts'
import { unresolvedByMonth, unresolvedSentence } from '../../metrics/service/service-unresolved.ts'
import { unknownWords } from '../../metrics/service/service-words.ts'
import { toCsv } from '../../plugin-kit/push/csv-text.ts'
import type { Routes } from '../api.ts'
import { sentAlready } from '../api.ts'
import { tables } from '../contract/common.ts'
import { reportQuery, reportRecord } from '../contract/metrics.ts'
import { aboutMetric, filterOf } from '../metric-filter.ts'

const COLUMNS = ['month', 'incidents', 'deployments', 'changeFailureRate', 'recoveryMinutes', 'unresolved']

/** For example `24/03`. */
const monthOf = (start: Date) => start.toISOString().slice(2, 7).replace('-', '/')

const upperFirst = (text: string) => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`

/** Counts the incidents that have no recovery time, because they are not resolved yet. */
function unresolvedIn(months: readonly { readonly unresolved: number }[], incidents: number) {
  const count = months.reduce((sum, { unresolved }) => sum + unresolved, 0)
  return { count, how: unresolvedSentence(count, incidents) }
}

export const serviceReportRoutes: Routes = (api, { database, plugins }) => {
  async function monthsOf(filter: MetricFilter) {
    const series = [...serviceReport, deploymentFrequency].map((metric) =>
      measureSeries({ database, plugins }, metric, [filter], 'month'),
    )
    const [incidents = [], rates = [], times = [], deployments = []] = (await Promise.all(series)).map(
      ([points = []]) => points,
    )
    const unresolved = await unresolvedByMonth(database, filter)
    return incidents.map(({ start, value }, place) => ({
      month: monthOf(start),
      incidents: value,
      deployments: deployments[place]?.counted ?? 0,
      changeFailureRate: rates[place]?.value ?? null,
      recoveryMinutes: times[place]?.value ?? null,
      unresolved: unresolved.get(monthOf(start)) ?? 0,
    }))
  }

  /** The two numbers that the change failure rate divides. The definition of the metric describes it for any project. */
  async function divisionOf(filter: MetricFilter) {
    const incidents = await readMetric(database, serviceIncidentCount, filter)
    const deployments = await readMetric(database, deploymentFrequency, filter)
    return {
      incidents: incidents.counted,
      deployments: deployments.counted,
      how:
        `${counted(incidents.counted, 'incident')} created in the range, divided by ${counted(deployments.counted, 'successful deployment')} ` +
        `of ${filter.project} to ${filter.environment} that finished in the range, counted as for the deployment frequency.`,
    }
  }

  api.get(
    '/v1/service-report',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags: ['metrics'],
        summary: 'Incidents of a service, what share of deployments they are, and how long they took, by month',
        querystring: reportQuery,
        response: tables(reportRecord, 'One line per month.', 404),
      },
    },
    async ({ query }, reply) => {
      const filter = await filterOf(database, { ...query, policy: 'project', reading: 'known' })
      const { sentences } = await unknownWords(database, filter)
      const months = await monthsOf(filter)
      if (query.format === 'csv') return sentAlready(reply.type('text/csv; charset=utf-8').send(toCsv(COLUMNS, months)))
      const metrics = []
      for (const metric of serviceReport) {
        const { leftOut: _, ...value } = await measureOne({ database, plugins }, metric, filter)
        metrics.push({ ...aboutMetric(metric, filter), ...value })
      }
      const { project, from, to, environment, service, policy } = filter
      const table = await categoryTable(database)
      const { because, remedy } = NO_CATEGORY_FIELD
      return {
        project,
        from,
        to,
        environment,
        issueCategories: service?.categories ?? null,
        component: service?.component ?? null,
        pairing: policy.pairing,
        categoryTable: table ?? null,
        division: await divisionOf(filter),
        unresolved: unresolvedIn(months, metrics.at(-1)?.counted ?? 0),
        notes: [...(table ? [] : [`${upperFirst(because)}. ${remedy}`]), ...sentences],
        metrics,
        months,
      }
    },
  )
}
