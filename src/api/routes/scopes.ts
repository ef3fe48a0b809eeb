import { z } from 'zod'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { example, id, present, queryFlag, wholeNumber } from '../../plugin-kit/spec/request-values.ts'
import type { Api, ApiContext } from '../api.ts'
import { answers, FURTHEST_PAGE, LARGEST_PAGE, timeOrNull } from '../contract/common.ts'
import { exampleScope, scopeAnswer, scopeBody, scopeConfigAnswer } from '../contract/plugin-fields.ts'
import { unlessChanged } from '../contract/seen.ts'
import { connectionParameter } from './connections.ts'

const scopeParameter = z.object({ connectionId: id, scopeId: z.string() })
const withBlueprints = { blueprints: queryFlag }

const list = z.object({
  page: wholeNumber(1, FURTHEST_PAGE).optional(),
  pageSize: wholeNumber(1, LARGEST_PAGE).optional(),
  searchTerm: z.string().optional(),
  ...withBlueprints,
})

const state = z.object({
  raw_data_table: z.string(),
  raw_data_params: z.string(),
  latest_success_start: timeOrNull,
})

function scopeContract(source: PluginSpec) {
  const { name: plugin, scope, scopeConfig } = source
  const tags = [plugin]
  const what = scope.title.toLowerCase()
  const base = `/plugins/${plugin}/connections/:connectionId/scopes`
  const answerSchema = scopeAnswer(scope.table)
  const bodySchema = scopeBody(scope.table)
  const view = z.object({
    scope: answerSchema,
    scopeConfig: scopeConfigAnswer(scopeConfig.fields).optional(),
    blueprints: z.array(z.looseObject({ id: z.int(), name: z.string(), projectName: z.string() })).optional(),
  })
  const data = z
    .object({ data: z.array(bodySchema) })
    .meta(example({ data: [exampleScope(scope.table, Object.values(scope.options))] }))
  return { plugin, scope, scopeConfig, tags, what, base, answerSchema, bodySchema, view, data }
}
type ScopeContract = ReturnType<typeof scopeContract>

function listRoutes(
  api: Api,
  { plugin, tags, what, base, answerSchema, view, data }: ScopeContract,
  { services, servicesFor }: ApiContext,
): void {
  api.put(
    base,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: `Add or replace scopes (${what}); all columns are written`,
        params: connectionParameter,
        body: data,
        response: answers(200, z.array(answerSchema)),
      },
    },
    (request) => servicesFor(request).scopes.put(plugin, request.params.connectionId, request.body.data),
  )
  api.get(
    base,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: `Scopes (${what}) of a connection`,
        params: connectionParameter,
        querystring: list,
        response: answers(200, z.object({ count: z.int(), scopes: z.array(view) })),
      },
    },
    async ({ params, query }) => {
      const { count, items } = await services.scopes.list(plugin, params.connectionId, present(query))
      return { count, scopes: items }
    },
  )
}

function oneRoutes(
  api: Api,
  { plugin, tags, what, base, answerSchema, bodySchema, view }: ScopeContract,
  { services, servicesFor }: ApiContext,
): void {
  api.get(
    `${base}/:scopeId`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: `One scope (${what})`,
        params: scopeParameter,
        querystring: z.object(withBlueprints),
        response: answers(200, view, 404),
      },
    },
    ({ params: { connectionId, scopeId }, query }) =>
      services.scopes.get(plugin, connectionId, scopeId, present(query)),
  )
  api.patch(
    `${base}/:scopeId`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: `Change a scope (${what}); scopeConfigId null detaches its scope config`,
        params: scopeParameter,
        headers: unlessChanged,
        body: bodySchema,
        response: answers(200, answerSchema, 404, 412),
      },
    },
    (request) => {
      const { connectionId, scopeId } = request.params
      return servicesFor(request).scopes.update(
        plugin,
        connectionId,
        scopeId,
        request.body,
        request.headers['if-match'],
      )
    },
  )
  api.delete(
    `${base}/:scopeId`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: `Delete what was collected for a scope (${what}) and, unless asked not to, the scope`,
        params: scopeParameter,
        querystring: z.object({ delete_data_only: queryFlag }),
        response: answers(200, answerSchema, 404, 409),
      },
    },
    (request) => {
      const { connectionId, scopeId } = request.params
      const dataOnly = request.query.delete_data_only ?? false
      return servicesFor(request).scopes.remove(plugin, connectionId, scopeId, { dataOnly })
    },
  )
}

function stateRoutes(api: Api, { plugin, tags, base }: ScopeContract, { services }: ApiContext): void {
  api.get(
    `${base}/:scopeId/latest-sync-state`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'When each of its raw tables was last collected',
        params: scopeParameter,
        response: answers(200, z.array(state), 404),
      },
    },
    ({ params: { connectionId, scopeId } }) => services.scopes.latestSyncState(plugin, connectionId, scopeId),
  )
}

/** Collected repositories, boards and projects of a connection. */
export function scopeRoutes(api: Api, source: PluginSpec, context: ApiContext): void {
  const contract = scopeContract(source)
  listRoutes(api, contract, context)
  oneRoutes(api, contract, context)
  stateRoutes(api, contract, context)
}
