import { z } from 'zod'
import type { BlueprintChanges, NewBlueprint } from '../../control-plane/records.ts'
import { blueprint, pipeline, planPreview } from '../../control-plane/records.ts'
import {
  body,
  example,
  flag,
  idParameter,
  nullAsAbsent,
  present,
  queryFlag,
  text,
} from '../../plugin-kit/spec/request-values.ts'
import { visibleProjects } from '../access/gate.ts'
import { allowedTo } from '../access/own-parts.ts'
import { inTurn, type Routes } from '../api.ts'
import { blueprintChanges, blueprintFields, EXAMPLE_PLAN, READ_ONLY } from '../contract/blueprint-body.ts'
import { answers, paging, success } from '../contract/common.ts'
import { unlessChanged } from '../contract/seen.ts'
import { done } from '../envelope.ts'
import { pipelineFilter } from './pipelines.ts'

const tags = ['blueprints']
const named = { ...blueprintFields, name: text }
const newBody = body(named, READ_ONLY).meta({
  ...example({ name: 'four keys', mode: 'ADVANCED', isManual: true, plan: EXAMPLE_PLAN }),
})
const newBlueprint = (input: z.output<ReturnType<typeof body<typeof named>>>): NewBlueprint => ({
  ...(present(input) as Partial<NewBlueprint>),
  name: input.name,
})

/** An empty body means no flags. */
const runFlags = body({ skipCollectors: nullAsAbsent(flag), fullSync: nullAsAbsent(flag) })

const list = z.object({
  ...paging,
  enable: queryFlag,
  isManual: queryFlag,
  label: z.string().optional(),
  type: z.enum(['ALL', 'MANUAL', 'DAILY', 'WEEKLY', 'MONTHLY', 'CUSTOM']).optional(),
})

const listed = z.object({ count: z.int(), blueprints: z.array(blueprint) })

const settingRoutes: Routes = (api, { services, servicesFor, shared }) => {
  api.get(
    '/blueprints',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Blueprints, newest first', querystring: list, response: answers(200, listed) },
    },
    async (request, reply) => {
      const projects = visibleProjects(request)
      const answer = await shared.share(JSON.stringify([projects, request.url]), async () => {
        const { count, items } = await services.blueprints.list(present({ ...request.query, projects }))
        return { count, blueprints: items }
      })
      return reply.type('application/json; charset=utf-8').send(answer)
    },
  )
  api.post(
    '/blueprints',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'Create a blueprint',
        body: newBody,
        response: answers(201, blueprint),
      },
    },
    async (request, reply) => {
      const saved = await servicesFor(request).blueprints.create(newBlueprint(request.body))
      return reply.code(201).send(saved)
    },
  )
  api.get(
    '/blueprints/:id',
    {
      config: { least: 'viewer', reach: 'blueprint', size: 'none', cost: 'light' },
      schema: { tags, summary: 'One blueprint', params: idParameter, response: answers(200, blueprint, 404) },
    },
    ({ params }) => services.blueprints.get(params.id),
  )
  api.patch(
    '/blueprints/:id',
    {
      config: { least: 'admin', reach: 'blueprint', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'Change a blueprint; a list in the request replaces the whole stored list',
        params: idParameter,
        headers: unlessChanged,
        body: body(blueprintChanges, READ_ONLY),
        response: answers(200, blueprint, 404, 409, 412),
      },
    },
    (request) => {
      const changes = present(request.body) as BlueprintChanges
      const { blueprints } = servicesFor(request)
      return blueprints.update(request.params.id, changes, request.headers['if-match'], allowedTo(request))
    },
  )
  api.delete(
    '/blueprints/:id',
    {
      config: { least: 'admin', reach: 'blueprint', size: 'small', cost: 'light' },
      schema: { tags, summary: 'Delete a blueprint', params: idParameter, response: answers(200, success, 404, 409) },
    },
    async (request) => {
      await servicesFor(request).blueprints.remove(request.params.id)
      return done()
    },
  )
}

const runRoutes: Routes = (api, { services, servicesFor }) => {
  api.post(
    '/blueprints/:id/trigger',
    {
      config: { least: 'operator', reach: 'blueprint', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Run it now',
        params: idParameter,
        body: runFlags,
        response: answers(200, pipeline, 404, 409),
      },
    },
    (request) => servicesFor(request).blueprints.trigger(request.params.id, present(request.body)),
  )
  api.get(
    '/blueprints/:id/pipelines',
    {
      config: { least: 'viewer', reach: 'blueprint', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Its runs, newest first',
        params: idParameter,
        querystring: z.object(pipelineFilter),
        response: answers(200, z.object({ count: z.int(), pipelines: z.array(pipeline) })),
      },
    },
    async ({ params, query }) => {
      const { count, items } = await services.pipelines.list({ ...present(query), blueprintId: params.id })
      return { count, pipelines: items }
    },
  )
  api.get(
    '/v1/blueprints/:id/plan',
    {
      config: { least: 'viewer', reach: 'blueprint', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'What a run would do now, with the expected requests and time',
        params: idParameter,
        querystring: z.object({ skipCollectors: queryFlag, fullSync: queryFlag }),
        response: answers(200, planPreview, 404),
      },
    },
    ({ params, query }) => services.blueprints.preview(params.id, present(query)),
  )
  api.post(
    '/v1/plans/preview',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'What a blueprint that is not saved would run, with the expected requests and time',
        body: newBody,
        response: answers(200, planPreview),
      },
    },
    (request) => services.blueprints.previewOf(newBlueprint(request.body)),
  )
}

export const blueprintRoutes = inTurn(settingRoutes, runRoutes)
