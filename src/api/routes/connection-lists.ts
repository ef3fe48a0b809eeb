import { z } from 'zod'
import { matchesOf } from '../../config-as-code/matches.ts'
import { listConnections } from '../../control-plane/connections/connection-states.ts'
import { listScopes } from '../../control-plane/scopes/scope-lists.ts'
import { sourceNamed } from '../../control-plane/sources.ts'
import { readAnswer } from '../../plugin-kit/spec/remote-scopes.ts'
import { body, bounded, flag, id, nullAsAbsent, present } from '../../plugin-kit/spec/request-values.ts'
import type { Routes } from '../api.ts'
import { answers, paging, REMOTE_FAILURES, time, timeOrNull } from '../contract/common.ts'
import { patterns, topic as topicName } from '../contract/selectors.ts'
import { patience, stopWith } from '../stream.ts'
import { remoteEntry } from './remote-scopes.ts'

const tags = ['connections']
const params = z.object({ plugin: bounded(100), connectionId: id })

const connection = z.object({
  plugin: z.string(),
  title: z.string(),
  id: z.int(),
  name: z.string(),
  endpoint: z.string(),
  scopes: z.int(),
  state: z.enum(['works', 'fails', 'unknown']),
  checkedAt: timeOrNull,
  failure: z.string().nullable(),
  failedRun: z.int().nullable().meta({ description: 'The run that failed with it; null: a test did.' }),
  requestsLeft: z.int().nullable(),
  countedAt: timeOrNull,
  pipelineId: z.int().nullable(),
  collectedAt: timeOrNull,
  createdAt: time,
  updatedAt: time,
})
const scope = z.object({
  id: z.string(),
  name: z.string(),
  scopeConfigId: z.int().nullable(),
  scopeConfigName: z.string().nullable(),
  collectedAt: timeOrNull,
  usedBy: z.array(z.string()),
})

const MOST_MATCHES = 5000
const LONGEST_WORDS = 500

/** Connections of all sources, and the lists that their pages show. */
export const connectionListRoutes: Routes = (api, { control, plugins, services }) => {
  api.get(
    '/v1/connections',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'All connections: whether they work, what they collect, and how many requests are left',
        response: answers(200, z.array(connection)),
      },
    },
    () => listConnections(control.context),
  )
  api.get(
    '/v1/connections/:plugin/:connectionId/scopes',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Scopes of a connection by name, with their scope config, last collection and projects',
        params,
        querystring: z.object({ ...paging, searchTerm: bounded(LONGEST_WORDS).optional() }),
        response: answers(200, z.object({ count: z.int(), scopes: z.array(scope) }), 404),
      },
    },
    async ({ params: { plugin, connectionId }, query }) => {
      await services.connections.get(plugin, connectionId)
      const { count, items } = await listScopes(control.context, plugin, connectionId, present(query))
      return { count, scopes: items }
    },
  )
  api.post(
    '/v1/connections/:plugin/:connectionId/matches',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: 'Scopes of the source that match patterns such as `acme/*` now',
        params,
        body: body({
          scopes: patterns.min(1),
          except: nullAsAbsent(patterns),
          archived: nullAsAbsent(flag),
          topic: nullAsAbsent(topicName),
        }),
        response: answers(
          200,
          z.object({ count: z.int(), scopes: z.array(remoteEntry), unmatched: z.array(z.string()) }),
          404,
          ...REMOTE_FAILURES,
        ),
      },
    },
    async ({ params: { plugin, connectionId }, body: { scopes, except = [], archived = false, topic } }, reply) => {
      const source = sourceNamed(plugins, plugin)
      const settings = await services.connections.reveal(plugin, connectionId)
      const selector = { scopes, except, archived, topic }
      const signal = patience(stopWith(reply))
      return readAnswer(source.title, () => matchesOf(source, settings, selector, MOST_MATCHES, signal))
    },
  )
}
