import { z } from 'zod'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { id } from '../../plugin-kit/spec/request-values.ts'
import type { Api, ApiContext } from '../api.ts'
import { answers } from '../contract/common.ts'
import { newScopeConfig, scopeConfigAnswer, scopeConfigBody } from '../contract/plugin-fields.ts'
import { unlessChanged } from '../contract/seen.ts'
import { connectionParameter } from './connections.ts'

const scope = z.object({ scopeId: z.string(), scopeName: z.string() })

const project = z.object({ name: z.string(), blueprintId: z.int(), scopes: z.array(scope) })

function scopeConfigContract(source: PluginSpec) {
  const { name: plugin, title, scopeConfig } = source
  const tags = [plugin]
  const base = `/plugins/${plugin}/connections/:connectionId/scope-configs`
  const bodySchema = scopeConfigBody(scopeConfig.fields)
  const answerSchema = scopeConfigAnswer(scopeConfig.fields)
  const params = z.object({ connectionId: id, scopeConfigId: id })
  return { plugin, title, scopeConfig, tags, base, bodySchema, answerSchema, params }
}
type ScopeConfigContract = ReturnType<typeof scopeConfigContract>

function listRoutes(
  api: Api,
  { plugin, title, scopeConfig, tags, base, answerSchema }: ScopeConfigContract,
  { services, servicesFor }: ApiContext,
): void {
  api.get(
    base,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: `${title} scope configs of a connection`,
        params: connectionParameter,
        response: answers(200, z.array(answerSchema)),
      },
    },
    (request) => services.scopeConfigs.list(plugin, request.params.connectionId),
  )
  api.post(
    base,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: `Create a ${title} scope config`,
        params: connectionParameter,
        body: newScopeConfig(scopeConfig.fields),
        response: answers(201, answerSchema, 404),
      },
    },
    async (request, reply) => {
      const { connectionId } = request.params
      await services.scopeConfigs.requireFreeName(plugin, request.body.name)
      return reply.code(201).send(await servicesFor(request).scopeConfigs.create(plugin, connectionId, request.body))
    },
  )
}

function oneRoutes(
  api: Api,
  { plugin, title, tags, base, bodySchema, answerSchema, params }: ScopeConfigContract,
  { services, servicesFor }: ApiContext,
): void {
  api.get(
    `${base}/:scopeConfigId`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: `One ${title} scope config`, params, response: answers(200, answerSchema, 404) },
    },
    (request) => services.scopeConfigs.get(plugin, request.params.connectionId, request.params.scopeConfigId),
  )
  api.patch(
    `${base}/:scopeConfigId`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: `Change a ${title} scope config`,
        params,
        headers: unlessChanged,
        body: bodySchema,
        response: answers(200, answerSchema, 404, 412),
      },
    },
    async (request) => {
      const { connectionId, scopeConfigId } = request.params
      await services.scopeConfigs.requireFreeName(plugin, request.body.name, scopeConfigId)
      const seen = request.headers['if-match']
      return servicesFor(request).scopeConfigs.update(plugin, connectionId, scopeConfigId, request.body, seen)
    },
  )
  api.delete(
    `${base}/:scopeConfigId`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: `Delete a ${title} scope config`,
        params,
        response: answers(200, answerSchema, 404, 409),
      },
    },
    (request) => {
      const { connectionId, scopeConfigId } = request.params
      return servicesFor(request).scopeConfigs.remove(plugin, connectionId, scopeConfigId)
    },
  )
}

function projectRoutes(api: Api, { plugin, tags }: ScopeConfigContract, { services }: ApiContext): void {
  api.get(
    `/plugins/${plugin}/scope-config/:scopeConfigId/projects`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Projects whose scopes use it',
        params: z.object({ scopeConfigId: id }),
        response: answers(200, z.object({ count: z.int(), projects: z.array(project) }), 404),
      },
    },
    async (request) => {
      const projects = await services.scopeConfigs.projects(plugin, request.params.scopeConfigId)
      return { count: projects.length, projects }
    },
  )
}

/** Rules by which the scopes of a data source are interpreted. */
export function scopeConfigRoutes(api: Api, source: PluginSpec, context: ApiContext): void {
  const contract = scopeConfigContract(source)
  listRoutes(api, contract, context)
  oneRoutes(api, contract, context)
  projectRoutes(api, contract, context)
}
