import type { FastifyReply } from 'fastify'
import { sql } from 'kysely'
import type { z } from 'zod'
import type { Database } from '../../database/database.ts'
import { comparePolicies } from '../../metrics/compare.ts'
import { findingsOf } from '../../metrics/findings.ts'
import { metricNamed, metrics } from '../../metrics/index.ts'
import { type Item, type MetricFilter, TABLE_OF } from '../../metrics/metric.ts'
import { POLICIES, type Policy, policyOf, REFERENCE } from '../../metrics/policy.ts'
import { previewRules } from '../../metrics/preview.ts'
import { checkRange, readItems, readMetric, readSeries } from '../../metrics/read.ts'
import { REMEDIES } from '../../metrics/remedies.ts'
import { assumptionsOfProject } from '../../pipelines/plan/assumptions.ts'
import { metricOption } from '../../pipelines/plan/metric-plans.ts'
import { rulePlacesOf } from '../../pipelines/rule-places.ts'
import { sourceNamed } from '../../pipelines/sources.ts'
import { findRow } from '../../pipelines/store.ts'
import { unknownProject } from '../../pipelines/unknown-project.ts'
import type { PluginSpec } from '../../plugin-kit/plugin.ts'
import { projectMetricSettings } from '../../system/projects.ts'
import type { Routes } from '../api.ts'
import { answers, tables } from '../contract/common.ts'
import {
  explanationRecord,
  itemsQuery,
  itemsRecord,
  metricName,
  metricRecord,
  plainQuery,
  policiesRecord,
  previewBody,
  previewRecord,
  seriesQuery,
  seriesRecord,
  valueQuery,
  valueRecord,
} from '../contract/metrics.ts'
import { toCsv } from '../csv.ts'

const tags = ['metrics']
const SAMPLES = 20

export const metricRoutes: Routes = (api, { database, plugins }) => {
  api.get(
    '/v1/metrics',
    { schema: { tags, summary: 'Every metric and what it means', response: answers(200, metricRecord.array()) } },
    async () =>
      metrics.map(({ name, title, definition, unit, better, summary }) => ({
        name,
        title,
        definition,
        unit,
        better,
        summary,
      })),
  )

  api.get(
    '/v1/metrics/:metric',
    {
      schema: {
        tags,
        summary: 'The value of a metric, for a project or for each environment, repository or team of it',
        params: metricName,
        querystring: valueQuery,
        response: tables(valueRecord, 'One value a group.', 404),
      },
    },
    async ({ params, query }, reply) => {
      const metric = metricNamed(params.metric)
      const filter = await filterOf(database, query)
      const values = []
      for (const { group, ...narrowed } of await groupsOf(database, filter, query.groupBy)) {
        const { leftOut: _, ...value } = await readMetric(database, metric, { ...filter, ...narrowed })
        values.push({ group, ...value })
      }
      return query.format === 'csv'
        ? sendCsv(reply, ['group', 'value', 'counted', 'total'], values)
        : { metric: metric.name, ...shown(filter), values }
    },
  )

  api.get(
    '/v1/metrics/:metric/series',
    {
      schema: {
        tags,
        summary: 'A metric over time; one point for every bucket of the range',
        params: metricName,
        querystring: seriesQuery,
        response: tables(seriesRecord, 'One point a bucket.', 404),
      },
    },
    async ({ params, query }, reply) => {
      const metric = metricNamed(params.metric)
      const filter = await filterOf(database, query)
      const points = await readSeries(database, metric, filter, query.bucket)
      return query.format === 'csv'
        ? sendCsv(reply, ['start', 'value', 'counted'], points)
        : { metric: metric.name, ...shown(filter), points }
    },
  )

  api.get(
    '/v1/metrics/:metric/items',
    {
      schema: {
        tags,
        summary: 'The rows behind a number: those that count, and those left out with the reason',
        params: metricName,
        querystring: itemsQuery,
        response: tables(itemsRecord, 'Rows, by date.', 404),
      },
    },
    async ({ params, query }, reply) => {
      const metric = metricNamed(params.metric)
      const filter = await filterOf(database, query)
      const limit = query.pageSize
      const items = (
        await readItems(database, metric, filter, { reason: query.reason, limit, offset: (query.page - 1) * limit })
      ).map(publicItem)
      return query.format === 'csv'
        ? sendCsv(
            reply,
            [
              'kind',
              'id',
              'at',
              'value',
              'reason',
              'title',
              'url',
              'repository',
              'account',
              'rawTable',
              'rawParams',
              'rawId',
            ],
            items,
          )
        : { metric: metric.name, ...shown(filter), items }
    },
  )

  api.get(
    '/v1/metrics/:metric/explanation',
    {
      schema: {
        tags,
        summary: 'Why the number is what it is: how many rows count, and how many do not for which reason',
        params: metricName,
        querystring: plainQuery,
        response: answers(200, explanationRecord, 404),
      },
    },
    async ({ params, query }) => {
      const metric = metricNamed(params.metric)
      const filter = await filterOf(database, query)
      const explained = await readMetric(database, metric, filter, true)
      const samples = await readItems(database, metric, filter, { limit: SAMPLES, offset: 0 })
      return {
        metric: metric.name,
        ...shown(filter),
        ...explained,
        leftOut: explained.leftOut.map((each) => ({ ...each, ...REMEDIES[each.reason] })),
        findings: await findingsOf(database, metric, filter),
        assumptions: await assumptionsOfProject({ database, plugins }, filter.project),
        places: await rulePlacesOf({ database, plugins }, filter.project),
        samples: samples.map(publicItem),
      }
    },
  )

  api.get(
    '/v1/metrics/:metric/policies',
    {
      schema: {
        tags,
        summary: 'The value under each policy, and how many rows count otherwise than in the reference',
        params: metricName,
        querystring: plainQuery,
        response: answers(200, policiesRecord, 404),
      },
    },
    async ({ params, query }) => {
      const metric = metricNamed(params.metric)
      const filter = await filterOf(database, query)
      const policies = await comparePolicies(database, metric, filter, POLICIES)
      const settings = new Map(POLICIES.map(({ name, policy }) => [name, { ...policy }]))
      const { leftOut: _, frequency: __, ...value } = await readMetric(database, metric, filter)
      return {
        metric: metric.name,
        ...shown(filter),
        policies: policies.map((each) => ({ ...each, settings: settings.get(each.policy) })),
        chosen: { settings: { ...filter.policy }, ...value },
      }
    },
  )

  api.post(
    '/v1/metrics/rule-preview',
    {
      schema: {
        tags,
        summary: 'What changed rules would match, and what they would do to the four keys; nothing is saved',
        body: previewBody,
        response: answers(200, previewRecord, 404),
      },
    },
    async ({ body }) => {
      await requireProject(database, body.project)
      const filter = { ...rangeOf(body), project: body.project, environment: 'PRODUCTION', policy: REFERENCE }
      const idsBegin = body.connection && idsOf(sourceNamed(plugins, body.connection.plugin), body.connection.id)
      return previewRules(database, filter, body.rules, { signal: AbortSignal.timeout(300_000), idsBegin })
    },
  )
}

/** How ids of the scopes of a connection begin. */
const idsOf = ({ scope }: PluginSpec, connectionId: number) => `${scope.table.idPrefix}:${connectionId}:`

const shown = ({ project, from, to }: MetricFilter) => ({ project, from, to })
const sendCsv = (reply: FastifyReply, names: readonly string[], rows: readonly object[]): any =>
  reply.type('text/csv; charset=utf-8').send(toCsv(names, rows))

const publicItem = ({ raw_table, raw_params, raw_id, ...item }: Item) => ({
  ...item,
  table: TABLE_OF[item.kind],
  rawTable: raw_table,
  rawParams: raw_params,
  rawId: raw_id === null ? null : Number(raw_id),
})

/** Six months up to now, unless another is asked for. */
export function rangeOf({ from, to = new Date() }: { from?: Date | undefined; to?: Date | undefined }) {
  const range = { from: from ?? new Date(Date.UTC(to.getUTCFullYear(), to.getUTCMonth() - 6, to.getUTCDate())), to }
  checkRange(range)
  return range
}

async function filterOf(database: Database, query: z.output<typeof plainQuery>): Promise<MetricFilter> {
  const { project, environment, repository, team } = query
  await requireProject(database, project)
  const named = POLICIES.find(({ name }) => name === query.policy)
  const policy = named?.policy ?? (await policyOfProject(database, project))
  return { project, environment, repository, team, policy, ...rangeOf(query) }
}

/** One whose rows are mapped counts, whoever made it. */
export async function requireProject({ kysely }: Database, project: string): Promise<void> {
  const { rows } = await sql`select 1 from projects where name = ${project}
    union select 1 from project_mapping where project_name = ${project}`.execute(kysely)
  if (rows.length === 0) throw await unknownProject(kysely, project)
}

/** `policy` among the options that the project has for its four keys. */
export async function policyOfProject({ kysely }: Database, project: string): Promise<Policy> {
  const stored = await findRow(kysely, projectMetricSettings, { project_name: project, plugin_name: 'dora' })
  const { policy } = metricOption(stored?.plugin_option)
  return policyOf((policy ?? {}) as Record<string, unknown>)
}

type Grouping = z.output<typeof valueQuery>['groupBy']
interface Group {
  readonly group: string | null
  readonly environment?: string
  readonly repository?: string
  readonly team?: string
}

async function groupsOf({ kysely }: Database, { project }: MetricFilter, by: Grouping): Promise<Group[]> {
  if (!by) return [{ group: null }]
  const mapped = (table: string) =>
    sql`select row_id from project_mapping where project_name = ${project} and ${sql.id('table')} = ${table}`
  const names = {
    environment: sql<{ name: string }>`select distinct environment as name from cicd_deployment_commits
      where cicd_scope_id in (${mapped('cicd_scopes')}) and environment <> '' order by environment`,
    repository: sql<{ name: string }>`select row_id as name from (${mapped('repos')}) own order by row_id`,
    team: sql<{ name: string }>`select id as name from teams order by id`,
  }[by]
  const { rows } = await names.execute(kysely)
  return rows.map(({ name }) => ({ group: name, [by]: name }))
}
