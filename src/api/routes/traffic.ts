import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { decimalOf } from '../../basics/decimal.ts'
import { UserError } from '../../errors.ts'
import { example } from '../../plugin-kit/spec/request-values.ts'
import { engineOn } from '../../traffic/engine/connect.ts'
import { knownGroups } from '../../traffic/engine/route-memory.ts'
import {
  createSwitch,
  describeSwitch,
  getSwitch,
  listSwitches,
  replacePlan,
  type SwitchRow,
} from '../../traffic/engine/store.ts'
import { planOf } from '../../traffic/engine/stored-plan.ts'
import { initialPlan } from '../../traffic/model/init.ts'
import type { Plan } from '../../traffic/model/plan.ts'
import { joinFiles, manifestsOf } from '../../traffic/render/render.ts'
import type { SimulationOptions } from '../../traffic/render/simulate.ts'
import { liveManifests } from '../../traffic/vendors/live-manifests.ts'
import { actorOf } from '../access/gate.ts'
import { inTurn, type Routes } from '../api.ts'
import { answers, eitherWay } from '../contract/common.ts'
import {
  differenceRecord,
  findingRecord,
  planBody,
  simulationBody,
  simulationRecord,
  switchRecord,
  yamlText,
} from '../contract/traffic.ts'
import type { HeavyWork } from '../heavy/heavy-work.ts'

export const tags = ['traffic switches']
export const BASE = '/v1/traffic-switches'

export const idParameter = z.object({ id: z.string() })
export const actorName = (request: FastifyRequest): string => {
  const { name, email, address } = actorOf(request)
  return name || email || address
}
/** `If-Match: "7"` */
export const versionOf = ({ headers }: FastifyRequest): number | undefined => {
  const text = headers['if-match']?.replaceAll(/[W/"]/g, '')
  if (text === undefined || text === '*') return undefined
  const version = decimalOf(text)
  if (version === undefined) throw new UserError('If-Match must be a version, such as "7", or *.')
  return version
}

const manifests = (heavy: HeavyWork, row: SwitchRow, phase: string) =>
  heavy.run('renderPhase', planOf(row), phase, {
    targetGroupArn: row.target_group_arn ?? undefined,
    targetGroupArns: knownGroups(row),
  })

async function readBody(heavy: HeavyWork, { yaml, ...plan }: z.infer<typeof planBody>): Promise<Plan> {
  if (yaml === undefined) return heavy.run('planFromValue', plan)
  if (Object.keys(plan).length > 0) throw new UserError('Send either yaml or the fields of a plan.')
  return heavy.run('planFromText', yaml)
}

const planRoutes: Routes = (api, { database, heavy }) => {
  api.get(
    BASE,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Traffic switches, newest first', response: answers(200, z.array(switchRecord)) },
    },
    async () => (await listSwitches(database)).map(describeSwitch),
  )
  api.post(
    BASE,
    {
      config: { least: 'operator', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'A new switch, as a draft',
        body: planBody,
        response: answers(201, switchRecord, 400, 422),
      },
    },
    async (request, reply) =>
      reply
        .code(201)
        .send(describeSwitch(await createSwitch(database, await readBody(heavy, request.body), actorName(request)))),
  )
  api.post(
    `${BASE}/lint`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'Findings about a plan or about any manifests; nothing is stored',
        body: z
          .strictObject({ yaml: yamlText, against: yamlText.default('') })
          .meta(example({ yaml: 'kind: Service\nmetadata: { name: web }' })),
        response: answers(200, z.array(findingRecord), 400),
      },
    },
    async ({ body }) => [...(await heavy.run('lintText', body.yaml, body.against))],
  )
}

const switchRoutes: Routes = (api, { database, heavy }) => {
  api.get(
    `${BASE}/:id`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'One switch', params: idParameter, response: answers(200, switchRecord, 404) },
    },
    async ({ params }, reply) => {
      const row = await getSwitch(database, params.id)
      return reply.header('etag', `"${row.version}"`).send(describeSwitch(row))
    },
  )
  api.put(
    `${BASE}/:id`,
    {
      config: { least: 'operator', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'Correct the plan of a draft',
        params: idParameter,
        body: planBody,
        response: answers(200, switchRecord, 400, 404, 409, 412, 422),
      },
    },
    async (request) => {
      const { id } = await getSwitch(database, request.params.id)
      return describeSwitch(
        await replacePlan(database, id, await readBody(heavy, request.body), actorName(request), versionOf(request)),
      )
    },
  )
  api.post(
    `${BASE}/:id/validate`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'Findings about the plan of a switch',
        params: idParameter,
        response: answers(200, z.array(findingRecord), 404),
      },
    },
    async ({ params }) => [...(await heavy.run('lintPlan', planOf(await getSwitch(database, params.id))))],
  )
}

const manifestRoutes: Routes = (api, { database, heavy }) => {
  const engine = engineOn(database)
  api.get(
    `${BASE}/:id/manifests`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'heavy' },
      schema: {
        tags,
        summary: 'Manifests and commands of a phase, as the command line prints them',
        params: idParameter,
        querystring: z.object({
          phase: z.string().default('step-0'),
          format: z.enum(['yaml', 'json']).default('yaml'),
        }),
        response: eitherWay(
          'application/yaml',
          z.array(z.object({ path: z.string(), content: z.string() })),
          'All files in one stream; with format=json a list of { path, content }.',
          404,
          422,
        ),
      },
    },
    async ({ params, query }, reply) => {
      const files = await manifests(heavy, await getSwitch(database, params.id), query.phase)
      if (query.format === 'json') return reply.type('application/json; charset=utf-8').send(JSON.stringify(files))
      return reply.type('application/yaml; charset=utf-8').send(joinFiles(files))
    },
  )
  api.post(
    `${BASE}/:id/diff`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'What differs between two phases, or between the live or a saved manifest and a phase',
        params: idParameter,
        body: z.strictObject({
          from: z.string().default('step-0'),
          to: z.string().default('step-1'),
          against: yamlText.optional(),
          side: z.enum(['current', 'target']).default('current'),
          live: z.boolean().default(false),
        }),
        response: answers(200, z.array(differenceRecord), 400, 404, 422),
      },
    },
    async ({ params, body }) => {
      const row = await getSwitch(database, params.id)
      const beforeOf = async () => {
        if (body.live) return liveManifests(planOf(row), await engine.connect(planOf(row)))
        return body.against === undefined
          ? manifestsOf(await manifests(heavy, row, body.from))
          : { current: '', target: '', [body.side]: body.against }
      }
      const after = manifestsOf(await manifests(heavy, row, body.to))
      const differences = await heavy.run('diffSides', await beforeOf(), after)
      return differences.map(({ before = null, after = null, ...rest }) => ({ ...rest, before, after }))
    },
  )
}

const simulateRoutes: Routes = (api, { database, heavy }) => {
  api.post(
    '/v1/traffic-plans/simulate',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'Who reaches which cluster when, by a plan that is not stored',
        body: z.strictObject({ yaml: yamlText }).meta(example({ yaml: initialPlan('shop', 'canary') })),
        response: answers(200, simulationRecord, 400, 422),
      },
    },
    async ({ body }) => heavy.run('simulate', await heavy.run('planFromText', body.yaml, 'nothing was simulated'), {}),
  )
  api.post(
    `${BASE}/:id/simulate`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'list', cost: 'heavy' },
      schema: {
        tags,
        summary: 'Who reaches which cluster when',
        params: idParameter,
        body: simulationBody,
        response: answers(200, simulationRecord, 400, 404),
      },
    },
    async ({ params, body }) =>
      heavy.run('simulate', planOf(await getSwitch(database, params.id)), body as SimulationOptions),
  )
}

/** Plans of switches, and everything that can be found out about them without acting. */
export const trafficRoutes = inTurn(planRoutes, switchRoutes, manifestRoutes, simulateRoutes)
