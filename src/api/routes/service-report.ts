/** Incidents that a category and a component choose, against the deployments of a project. */

import { measureOne } from '../../control-plane/measure.ts'
import { serviceReport } from '../../metrics/index.ts'
import type { MetricFilter } from '../../metrics/metric.ts'
import { readSeries } from '../../metrics/read.ts'
import { toCsv } from '../../plugin-kit/push/csv-text.ts'
import type { Routes } from '../api.ts'
import { sentAlready } from '../api.ts'
import { tables } from '../contract/common.ts'
import { reportQuery, reportRecord } from '../contract/metrics.ts'
import { aboutMetric, filterOf } from '../metric-filter.ts'

const COLUMNS = ['month', 'incidents', 'deployments', 'changeFailureRate', 'recoveryMinutes']

/** `24/03` */
const monthOf = (start: Date) => start.toISOString().slice(2, 7).replace('-', '/')

export const serviceReportRoutes: Routes = (api, { database, plugins }) => {
  async function monthsOf(filter: MetricFilter) {
    const [incidents = [], rates = [], times = []] = await Promise.all(
      serviceReport.map((metric) => readSeries(database, metric, filter, 'month')),
    )
    return incidents.map(({ start, value, counted }, place) => ({
      month: monthOf(start),
      incidents: value,
      // A rate is made of both.
      deployments: (rates[place]?.counted ?? 0) - counted,
      changeFailureRate: rates[place]?.value ?? null,
      recoveryMinutes: times[place]?.value ?? null,
    }))
  }

  api.get(
    '/v1/service-report',
    {
      schema: {
        tags: ['metrics'],
        summary: 'Incidents of a service, what share of deployments they are, and how long they took, by month',
        querystring: reportQuery,
        response: tables(reportRecord, 'One line per month.', 404),
      },
    },
    async ({ query }, reply) => {
      const filter = await filterOf(database, { ...query, policy: 'project', reading: 'known' })
      const months = await monthsOf(filter)
      if (query.format === 'csv') return sentAlready(reply.type('text/csv; charset=utf-8').send(toCsv(COLUMNS, months)))
      const metrics = []
      for (const metric of serviceReport) {
        const { leftOut: _, ...value } = await measureOne({ database, plugins }, metric, filter)
        metrics.push({ ...aboutMetric(metric, filter), ...value })
      }
      const { project, from, to, environment, service, policy } = filter
      return {
        ...{ project, from, to, environment },
        issueCategories: service?.categories ?? null,
        component: service?.component ?? null,
        pairing: policy.pairing,
        metrics,
        months,
      }
    },
  )
}
