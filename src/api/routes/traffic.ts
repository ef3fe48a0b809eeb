import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { engineOn } from '../../traffic/connect.ts'
import { diffSides } from '../../traffic/diff.ts'
import { act, approve, judgeGates } from '../../traffic/engine.ts'
import { lintPlan } from '../../traffic/lint-plan.ts'
import { lintText } from '../../traffic/lint-text.ts'
import { liveManifests } from '../../traffic/live-manifests.ts'
import { type Plan, parsePlan, readPlan } from '../../traffic/plan.ts'
import { preview } from '../../traffic/preview.ts'
import { joinFiles, manifestsOf, renderPhase } from '../../traffic/render.ts'
import { reverseSwitch } from '../../traffic/reverse.ts'
import { simulate } from '../../traffic/simulate.ts'
import {
  createSwitch,
  describeSwitch,
  getSwitch,
  journalOf,
  listSwitches,
  planOf,
  replacePlan,
  type SwitchRow,
} from '../../traffic/store.ts'
import { requirePlan } from '../../traffic/submit-plan.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, queryFlag, streams } from '../contract/common.ts'
import {
  differenceRecord,
  findingRecord,
  journalRecord,
  planBody,
  simulationBody,
  simulationRecord,
  switchRecord,
  transitionAnswers,
  transitionBody,
} from '../contract/traffic.ts'
import { stopWith, streamEvents } from '../stream.ts'

const tags = ['traffic switches']
const BASE = '/v1/traffic-switches'
const POLL_MS = 1_000

const readBody = (body: z.infer<typeof planBody>): Plan =>
  requirePlan('yaml' in body && typeof body.yaml === 'string' ? parsePlan(body.yaml) : readPlan(body))

const idParameter = z.object({ id: z.string() })
const actorName = (request: FastifyRequest): string => {
  const { name, email, address } = actorOf(request)
  return name || email || address
}
/** `If-Match: "7"` */
const versionOf = ({ headers }: FastifyRequest): number | undefined => {
  const text = headers['if-match']?.replaceAll(/[W/"]/g, '')
  return text === undefined || text === '*' ? undefined : Number(text)
}

export const trafficRoutes: Routes = (api, { database }) => {
  const engine = engineOn(database)
  const entriesOf = async (id: string, after: number) =>
    (await journalOf(database, id, after)).map(({ switch_id: _id, at, ...entry }) => ({
      ...entry,
      at: at?.toISOString() ?? null,
    }))
  const manifests = (row: SwitchRow, phase: string) =>
    renderPhase(planOf(row), phase, { targetGroupArn: row.target_group_arn ?? undefined })

  api.get(
    BASE,
    { schema: { tags, summary: 'Traffic switches, newest first', response: answers(200, z.array(switchRecord)) } },
    async () => (await listSwitches(database)).map(describeSwitch),
  )
  api.post(
    BASE,
    {
      schema: {
        tags,
        summary: 'A new switch, as a draft',
        body: planBody,
        response: answers(201, switchRecord, 400, 422),
      },
    },
    async (request, reply) =>
      reply.code(201).send(describeSwitch(await createSwitch(database, readBody(request.body), actorName(request)))),
  )
  api.post(
    `${BASE}/lint`,
    {
      schema: {
        tags,
        summary: 'Findings about a plan or about any manifests; nothing is stored',
        body: z.strictObject({ yaml: z.string(), against: z.string().default('') }),
        response: answers(200, z.array(findingRecord), 400),
      },
    },
    async ({ body }) => lintText(body.yaml, body.against),
  )
  api.get(
    `${BASE}/:id`,
    { schema: { tags, summary: 'One switch', params: idParameter, response: answers(200, switchRecord, 404) } },
    async ({ params }, reply) => {
      const row = await getSwitch(database, params.id)
      return reply.header('etag', `"${row.version}"`).send(describeSwitch(row))
    },
  )
  api.put(
    `${BASE}/:id`,
    {
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
        await replacePlan(database, id, readBody(request.body), actorName(request), versionOf(request)),
      )
    },
  )
  api.post(
    `${BASE}/:id/validate`,
    {
      schema: {
        tags,
        summary: 'Findings about the plan of a switch',
        params: idParameter,
        response: answers(200, z.array(findingRecord), 404),
      },
    },
    async ({ params }) => lintPlan(planOf(await getSwitch(database, params.id))),
  )
  api.get(
    `${BASE}/:id/manifests`,
    {
      schema: {
        tags,
        summary: 'Manifests and commands of a phase, as the command line prints them',
        params: idParameter,
        querystring: z.object({
          phase: z.string().default('step-0'),
          format: z.enum(['yaml', 'json']).default('yaml'),
        }),
        response: streams(
          'application/yaml',
          'All files in one stream; with format=json a list of { path, content }.',
          404,
          422,
        ),
      },
    },
    async ({ params, query }, reply) => {
      const files = manifests(await getSwitch(database, params.id), query.phase)
      if (query.format === 'json') return reply.type('application/json; charset=utf-8').send(JSON.stringify(files))
      return reply.type('application/yaml; charset=utf-8').send(joinFiles(files))
    },
  )
  api.post(
    `${BASE}/:id/diff`,
    {
      schema: {
        tags,
        summary: 'What differs between two phases, or between the live or a saved manifest and a phase',
        params: idParameter,
        body: z.strictObject({
          from: z.string().default('step-0'),
          to: z.string().default('step-1'),
          against: z.string().optional(),
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
          ? manifestsOf(manifests(row, body.from))
          : { current: '', target: '', [body.side]: body.against }
      }
      const differences = diffSides(await beforeOf(), manifestsOf(manifests(row, body.to)))
      return differences.map(({ before = null, after = null, ...rest }) => ({ ...rest, before, after }))
    },
  )
  api.post(
    `${BASE}/:id/simulate`,
    {
      schema: {
        tags,
        summary: 'Who reaches which cluster when',
        params: idParameter,
        body: simulationBody,
        response: answers(200, simulationRecord, 400, 404),
      },
    },
    async ({ params, body }) =>
      simulate(planOf(await getSwitch(database, params.id)), body as Parameters<typeof simulate>[1]),
  )
  api.post(
    `${BASE}/:id/transitions`,
    {
      schema: {
        tags,
        summary: 'Prepare, advance, pause, roll back, confirm the DNS switch, clean up or abort',
        params: idParameter,
        body: transitionBody,
        response: transitionAnswers,
      },
    },
    async (request, reply) => {
      const { dryRun, wait, ...wanted } = request.body
      const row = await getSwitch(database, request.params.id)
      if (dryRun) return { dryRun: [...(await preview(engine, row, wanted))] }
      const actor = actorName(request)
      if (wanted.action === 'rollback' && row.state === 'cleaned-up')
        return describeSwitch(await reverseSwitch(engine, row, actor))
      const work = act(engine, row.id, {
        ...wanted,
        actor,
        expectedVersion: wanted.expectedVersion ?? versionOf(request),
      })
      if (wait) return describeSwitch(await work)
      work.catch((error) => request.log.warn({ err: error, switch: row.id }, 'a traffic transition failed'))
      return reply.code(202).send(describeSwitch(row))
    },
  )
  api.post(
    `${BASE}/:id/approve`,
    {
      schema: {
        tags,
        summary: 'Pass the approval gate of the step in force',
        params: idParameter,
        body: z.strictObject({ reason: z.string().optional() }).default({}),
        response: answers(200, switchRecord, 404, 409),
      },
    },
    async (request) => {
      const { id } = await getSwitch(database, request.params.id)
      return describeSwitch(await approve(engine, id, actorName(request), request.body.reason))
    },
  )
  api.post(
    `${BASE}/:id/reverse`,
    {
      schema: {
        tags,
        summary: 'A new draft in the other direction',
        params: idParameter,
        body: z.strictObject({ sourceSecurityGroup: z.string().optional() }).default({}),
        response: answers(201, switchRecord, 404, 422, 502),
      },
    },
    async (request, reply) => {
      const row = await getSwitch(database, request.params.id)
      return reply
        .code(201)
        .send(describeSwitch(await reverseSwitch(engine, row, actorName(request), request.body.sourceSecurityGroup)))
    },
  )
  api.get(
    `${BASE}/:id/gates`,
    {
      schema: {
        tags,
        summary: 'What the gates of the step in force say now',
        params: idParameter,
        response: answers(
          200,
          z.array(
            z.object({
              gate: z.string(),
              verdict: z.enum(['pass', 'fail', 'inconclusive', 'pending']),
              message: z.string(),
            }),
          ),
          404,
          502,
          503,
        ),
      },
    },
    async ({ params }) => {
      const row = await getSwitch(database, params.id)
      const plan = planOf(row)
      return [...(await judgeGates(engine, row, plan, await engine.connect(plan)))]
    },
  )
  api.get(
    `${BASE}/:id/journal`,
    {
      schema: {
        tags,
        summary: 'What was done and what came of it',
        params: idParameter,
        querystring: z.object({ after: z.coerce.number().int().default(0) }),
        response: answers(200, z.array(journalRecord), 404),
      },
    },
    async ({ params, query }) => entriesOf((await getSwitch(database, params.id)).id, query.after),
  )
  api.get(
    `${BASE}/:id/events`,
    {
      schema: {
        tags,
        summary:
          'The journal as it grows, as server-sent events; ends when the switch is finished or nobody works on it',
        params: idParameter,
        querystring: z.object({ after: z.coerce.number().int().default(0), follow: queryFlag }),
        response: streams('text/event-stream', 'One journal entry an event; repeat with ?after=sequence.', 404),
      },
    },
    async ({ params, query }, reply) => {
      const { id } = await getSwitch(database, params.id)
      return streamEvents(reply, eventsOf(id, query.after, query.follow !== false, stopWith(reply)))
    },
  )

  async function* eventsOf(id: string, after: number, follows: boolean, signal: AbortSignal): AsyncGenerator<unknown> {
    for (let last = after; !signal.aborted; ) {
      const { state } = await getSwitch(database, id)
      const entries = await entriesOf(id, last)
      yield* entries
      last = entries.at(-1)?.sequence ?? last
      if (!follows || state === 'cleaned-up') return
      await sleep(POLL_MS, undefined, { signal })
    }
  }
}
