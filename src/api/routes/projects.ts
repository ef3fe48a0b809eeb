import { z } from 'zod'
import type { NewBlueprint } from '../../control-plane/records.ts'
import { project } from '../../control-plane/records.ts'
import {
  body,
  change,
  example,
  flag,
  longText,
  nullAsAbsent,
  present,
  text,
} from '../../plugin-kit/spec/request-values.ts'
import { FOUR_KEYS } from '../../plugins/index.ts'
import { visibleProjects } from '../access/gate.ts'
import { inTurn, type Routes } from '../api.ts'
import { blueprintFields, READ_ONLY } from '../contract/blueprint-body.ts'
import { answers, paging, success } from '../contract/common.ts'
import { unlessChanged } from '../contract/seen.ts'
import { done } from '../envelope.ts'

const option = z.any().meta({
  anyOf: [{ type: 'object' }, { type: 'string', maxLength: 0 }, { type: 'null' }],
  description: 'dora: `policy`; linker: `prToIssueRegexp`.',
})
const metrics = z.array(
  body({ pluginName: text, pluginOption: option.optional(), enable: nullAsAbsent(flag) }, [
    'projectName',
    'createdAt',
    'updatedAt',
  ]),
)
/** Fields of a project that clients send back with it. */
const SHOWN = [
  'createdAt',
  'updatedAt',
  '_raw_data_params',
  '_raw_data_table',
  '_raw_data_id',
  '_raw_data_remark',
  'lastPipeline',
  'enable',
]
const named = z.object({ projectName: z.string() })
const tags = ['projects']

type MetricsInput = z.output<typeof metrics>
const metricsOf = (metricsInput: MetricsInput) =>
  metricsInput.map(({ pluginName, pluginOption = {}, enable = false }) => ({ pluginName, pluginOption, enable }))

const sort = z.enum(['newest', 'oldest', 'name']).optional()

const list = z.object({ ...paging, keyword: z.string().optional(), sort })

const listed = z.object({ count: z.int(), projects: z.array(project) })

const created = body(
  {
    name: text,
    description: nullAsAbsent(longText),
    metrics: nullAsAbsent(metrics),
    blueprint: nullAsAbsent(body(blueprintFields, READ_ONLY)),
  },
  SHOWN,
).meta(example({ name: 'shop', metrics: [{ pluginName: FOUR_KEYS, pluginOption: {}, enable: true }] }))

const changed = body({ name: nullAsAbsent(text), description: change(longText, ''), metrics: change(metrics, []) }, [
  ...SHOWN,
  'blueprint',
])

const readRoutes: Routes = (api, { services, servicesFor, shared }) => {
  api.get(
    '/projects',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Projects, newest first unless sorted',
        querystring: list,
        response: answers(200, listed),
      },
    },
    async (request, reply) => {
      const names = visibleProjects(request)
      const answer = await shared.share(JSON.stringify([names, request.url]), async () => {
        const { count, items } = await services.projects.list(present({ ...request.query, names }))
        return { count, projects: items }
      })
      return reply.type('application/json; charset=utf-8').send(answer)
    },
  )
  api.post(
    '/projects',
    {
      config: { least: 'admin', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'Create a project and its blueprint',
        body: created,
        response: answers(201, project),
      },
    },
    async (request, reply) => {
      const { name, description, metrics: metricsInput, blueprint } = request.body
      const saved = await servicesFor(request).projects.create({
        name,
        ...(description !== undefined && { description }),
        ...(metricsInput && { metrics: metricsOf(metricsInput) }),
        ...(blueprint && { blueprint: present(blueprint) as Partial<NewBlueprint> }),
      })
      return reply.code(201).send(saved)
    },
  )
  api.get(
    '/projects/:projectName',
    {
      config: { least: 'viewer', reach: 'path', size: 'none', cost: 'light' },
      schema: { tags, summary: 'One project', params: named, response: answers(200, project, 404) },
    },
    ({ params }) => services.projects.get(params.projectName),
  )
  api.get(
    '/projects/:projectName/check',
    {
      config: { least: 'viewer', reach: 'path', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Is the name taken?',
        params: named,
        response: answers(200, z.object({ exist: z.boolean() })),
      },
    },
    async ({ params }) => ({ exist: await services.projects.exists(params.projectName) }),
  )
}

const changeRoutes: Routes = (api, { servicesFor }) => {
  api.patch(
    '/projects/:projectName',
    {
      config: { least: 'admin', reach: 'path', size: 'list', cost: 'light' },
      schema: {
        tags,
        summary: 'Change a project; a description that is left out is cleared',
        params: named,
        headers: unlessChanged,
        body: changed,
        response: answers(201, project, 404, 409, 412),
      },
    },
    async (request, reply) => {
      const { name, description, metrics: metricsInput } = request.body
      const changes = {
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        // Clients of DevLake send an empty list to leave the metrics unchanged.
        ...(metricsInput?.length && { metrics: metricsOf(metricsInput) }),
      }
      const { projects } = servicesFor(request)
      const saved = await projects.update(request.params.projectName, changes, request.headers['if-match'])
      return reply.code(201).send(saved)
    },
  )
  api.delete(
    '/projects/:projectName',
    {
      config: { least: 'admin', reach: 'path', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Delete a project with its blueprint; what was collected stays',
        params: named,
        response: answers(200, success, 404, 409),
      },
    },
    async (request) => {
      await servicesFor(request).projects.remove(request.params.projectName)
      return done()
    },
  )
}

export const projectRoutes = inTurn(readRoutes, changeRoutes)
