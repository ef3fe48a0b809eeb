import type { FastifyRequest } from 'fastify'
import { sql } from 'kysely'
import { metricOption } from '../../control-plane/plan/metric-plans.ts'
import { measure, measureSeries } from '../../control-plane/projects/measure.ts'
import { selectRows } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import { among, onePiece } from '../../database/pieces.ts'
import { fourKeys } from '../../metrics/index.ts'
import type { MetricFilter } from '../../metrics/metric.ts'
import { policyOf } from '../../metrics/policy/policy.ts'
import type { Explanation } from '../../metrics/read/read.ts'
import { restsOn } from '../../metrics/read/rests-on.ts'
import { FOUR_KEYS } from '../../plugins/index.ts'
import { projectMetricSettings } from '../../system/projects.ts'
import { visibleProjects } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers } from '../contract/common.ts'
import { keysQuery, keysRecord } from '../contract/metrics.ts'
import { aboutMetric, rangeOf } from '../metric-filter.ts'

export const fourKeyRoutes: Routes = (api, { database, plugins }) => {
  api.get(
    '/v1/four-keys',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags: ['metrics'],
        summary: 'The four keys of many projects at once: value, band, and values over time',
        querystring: keysQuery,
        response: answers(200, keysRecord),
      },
    },
    async (request) => {
      const { project, bucket, ...asked } = request.query
      const range = rangeOf(asked)
      const filters = await filtersOf(database, visibleOf(request, project), range)
      const keys = await Promise.all(
        fourKeys.map(async (metric) => {
          const now = await measure({ database, plugins }, metric, filters)
          return { metric, now, series: await measureSeries({ database, plugins }, metric, filters, bucket, now) }
        }),
      )
      return {
        ...range,
        projects: filters.map((filter, place) => ({
          project: filter.project,
          keys: keys.map(({ metric, now, series }) => {
            const { leftOut, frequency: _, ...value } = now[place] as Explanation
            const basis = restsOn(metric, filter, { ...value, leftOut })
            return { ...aboutMetric(metric, filter), ...value, restsOn: basis, points: series[place] ?? [] }
          }),
        })),
      }
    },
  )
}

function visibleOf(request: FastifyRequest, names: readonly string[]): string[] {
  const visible = visibleProjects(request)
  return [...new Set(names)].filter((name) => !visible || visible.includes(name))
}

/** Filters for those of the projects that exist, each with its own policy. */
async function filtersOf(
  { kysely }: Database,
  names: readonly string[],
  range: Pick<MetricFilter, 'from' | 'to'>,
): Promise<MetricFilter[]> {
  if (names.length === 0) return []
  const page = onePiece(names)
  const { rows } = await sql<{ name: string }>`select name from projects where ${among(sql`name`, page)}
    union select project_name from project_mapping where ${among(sql`project_name`, page)}`.execute(kysely)
  const there = new Set(rows.map(({ name }) => name))
  const settings = await selectRows(kysely, projectMetricSettings, (query) =>
    query.where('plugin_name', '=', FOUR_KEYS).where(among(sql`project_name`, page)),
  )
  const options = new Map(settings.map((row) => [row.project_name, metricOption(row.plugin_option)]))
  return names
    .filter((name) => there.has(name))
    .map((project) => {
      const policy = policyOf((options.get(project)?.policy ?? {}) as Record<string, unknown>)
      return { project, environment: 'PRODUCTION', policy, ...range }
    })
}
