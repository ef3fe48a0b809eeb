import type { FastifyReply } from 'fastify'
import { assumptionsOfProject } from '../../control-plane/plan/assumptions.ts'
import { measureOne, measureSeries } from '../../control-plane/projects/measure.ts'
import { projectFindings } from '../../control-plane/projects/project-findings.ts'
import { rulePlacesOf } from '../../control-plane/scopes/rules-in-force.ts'
import { sourceNamed } from '../../control-plane/sources.ts'
import type { Database } from '../../database/database.ts'
import { REMEDIES } from '../../metrics/findings/remedies.ts'
import { metrics } from '../../metrics/index.ts'
import { type Item, type Metric, type MetricFilter, TABLE_OF } from '../../metrics/metric.ts'
import { DEFAULT_POLICY, POLICIES } from '../../metrics/policy/policy.ts'
import { type Rollout, rolloutsOf } from '../../metrics/policy/rollout-list.ts'
import { comparePolicies } from '../../metrics/read/compare.ts'
import { type DetailedItem, withDetails } from '../../metrics/read/item-details.ts'
import { countAgainst, countItems, readItems } from '../../metrics/read/read-items.ts'
import { toCsv } from '../../plugin-kit/push/csv-text.ts'
import { inTurn, plain, type Routes, sentAlready } from '../api.ts'
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
import { aboutMetric, askedFor, groupsOf, rangeOf, requireProject } from '../metric-filter.ts'

const tags = ['metrics']
const SAMPLES = 20

const valueRoutes: Routes = (api, { database, plugins }) => {
  api.get(
    '/v1/metrics',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Every metric and what it means', response: answers(200, metricRecord.array()) },
    },
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
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The value of a metric, for a project or for each environment, repository or team of it',
        params: metricName,
        querystring: valueQuery,
        response: tables(valueRecord, 'One value per group.', 404),
      },
    },
    async ({ params, query }, reply) => {
      const { metric, filter } = await askedFor(database, params, query)
      const values = []
      for (const { group, name, ...narrowed } of await groupsOf(database, filter, query.groupBy)) {
        const { leftOut: _, ...value } = await measureOne({ database, plugins }, metric, { ...filter, ...narrowed })
        values.push({ group, name, ...value })
      }
      return query.format === 'csv'
        ? sendCsv(reply, ['group', 'value', 'counted', 'total', 'name'], values)
        : { ...headOf(metric, filter), values }
    },
  )
  api.get(
    '/v1/metrics/:metric/series',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'A metric over time; one point for every bucket of the range',
        params: metricName,
        querystring: seriesQuery,
        response: tables(seriesRecord, 'One point per bucket.', 404),
      },
    },
    async ({ params, query }, reply) => {
      const { metric, filter } = await askedFor(database, params, query)
      const [points = []] = await measureSeries({ database, plugins }, metric, [filter], query.bucket)
      return query.format === 'csv'
        ? sendCsv(reply, ['start', 'value', 'counted'], points)
        : { ...headOf(metric, filter), points }
    },
  )
}

const itemRoutes: Routes = (api, { database }) => {
  api.get(
    '/v1/metrics/:metric/items',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The rows behind a number: those that count, and those left out with the reason',
        params: metricName,
        querystring: itemsQuery,
        response: tables(itemsRecord, 'Rows, by date.', 404),
      },
    },
    async ({ params, query }, reply) => {
      const { metric, filter } = await askedFor(database, params, query)
      const limit = query.pageSize
      const page = { reason: query.reason, limit, offset: (query.page - 1) * limit }
      const items = await publicItems(database, metric, filter, await readItems(database, metric, filter, page))
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
              'repositoryName',
              'accountName',
            ],
            items,
          )
        : { ...headOf(metric, filter), count: await countItems(database, metric, filter, query.reason), items }
    },
  )
}

const explanationRoutes: Routes = (api, { database, plugins }) => {
  api.get(
    '/v1/metrics/:metric/explanation',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Why the number is what it is: how many rows count, and how many do not for which reason',
        params: metricName,
        querystring: plainQuery,
        response: answers(200, explanationRecord, 404),
      },
    },
    async ({ params, query }) => {
      const { metric, filter } = await askedFor(database, params, query)
      const explained = await measureOne({ database, plugins }, metric, filter, true)
      const samples = await readItems(database, metric, filter, { limit: SAMPLES, offset: 0 })
      const joined = await readItems(database, metric, filter, { reason: 'same_rollout', limit: SAMPLES, offset: 0 })
      return {
        ...headOf(metric, filter),
        ...explained,
        leftOut: explained.leftOut.map((each) => ({ ...each, ...REMEDIES[each.reason] })),
        against: await countAgainst(database, metric, filter),
        findings: await projectFindings(database, metric, filter),
        assumptions: await assumptionsOfProject({ database, plugins }, filter.project),
        places: await rulePlacesOf({ database, plugins }, filter.project),
        samples: await publicItems(database, metric, filter, samples),
        rolloutsJoined: [...new Set((await rolloutsAmong(database, filter, joined)).values())],
      }
    },
  )
  api.get(
    '/v1/metrics/:metric/policies',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The value under each policy, and how many rows count differently than without one',
        params: metricName,
        querystring: plainQuery,
        response: answers(200, policiesRecord, 404),
      },
    },
    async ({ params, query }) => {
      const { metric, filter } = await askedFor(database, params, query)
      const read = (under: MetricFilter) => measureOne({ database, plugins }, metric, under)
      const policies = await comparePolicies(database, metric, filter, POLICIES, read)
      const settings = new Map(POLICIES.map(({ name, policy }) => [name, { ...policy }]))
      const { leftOut: _, frequency: __, ...value } = await read(filter)
      return {
        ...headOf(metric, filter),
        policies: policies.map((each) => ({ ...each, settings: settings.get(each.policy) })),
        standard: { ...DEFAULT_POLICY },
        chosen: { settings: { ...filter.policy }, ...value },
      }
    },
  )
}

const previewRoutes: Routes = (api, { database, plugins, longWork }) => {
  api.post(
    '/v1/metrics/rule-preview',
    {
      config: { least: 'viewer', reach: 'body', size: 'settings', cost: 'heavy' },
      schema: {
        tags,
        summary: 'What changed rules would match, and what they would do to the four keys; nothing is saved',
        body: previewBody,
        response: answers(200, previewRecord, 404),
      },
    },
    async ({ body }) => {
      await requireProject(database, body.project)
      if (body.connection) sourceNamed(plugins, body.connection.plugin)
      return plain(await longWork.run('previewRules', database.url(), { ...body, ...rangeOf(body) }))
    },
  )
}

export const metricRoutes = inTurn(valueRoutes, itemRoutes, explanationRoutes, previewRoutes)

/** The first fields of every answer. */
const headOf = (metric: Metric, filter: MetricFilter) => ({
  ...aboutMetric(metric, filter),
  project: filter.project,
  from: filter.from,
  to: filter.to,
})
const sendCsv = (reply: FastifyReply, names: readonly string[], rows: readonly object[]) =>
  sentAlready(reply.type('text/csv; charset=utf-8').send(toCsv(names, rows)))

const rolloutsAmong = (database: Database, { project, policy }: MetricFilter, items: readonly Item[]) =>
  rolloutsOf(
    database,
    { project, policy },
    items.flatMap(({ kind, id }) => (kind === 'deployment' ? [id] : [])),
  )

async function publicItems(database: Database, metric: Metric, filter: MetricFilter, items: readonly Item[]) {
  const rollouts = await rolloutsAmong(database, filter, items)
  return (await withDetails(database, metric, filter, items)).map((item) => publicItem(item, rollouts.get(item.id)))
}

const publicItem = ({ raw_table, raw_params, raw_id, ...item }: DetailedItem, rollout: Rollout | undefined) => ({
  ...item,
  table: TABLE_OF[item.kind],
  rawTable: raw_table,
  rawParams: raw_params,
  rawId: raw_id === null ? null : Number(raw_id),
  rollout: rollout ?? null,
})
