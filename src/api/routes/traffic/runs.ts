import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { engineOn } from '../../../../traffic/engine/connect.ts'
import { act, approve } from '../../../../traffic/engine/engine.ts'
import { journalSentence } from '../../../../traffic/engine/journal-words.ts'
import { preview } from '../../../../traffic/engine/preview.ts'
import { requestsByCluster } from '../../../../traffic/engine/requests-by-cluster.ts'
import { reverseSwitch } from '../../../../traffic/engine/reverse.ts'
import { type SwitchStatus, switchStatus } from '../../../../traffic/engine/status.ts'
import { describeSwitch, getSwitch, journalOf, type SwitchRow } from '../../../../traffic/engine/store.ts'
import { planOf } from '../../../../traffic/engine/stored-plan.ts'
import { judgeGates } from '../../../../traffic/gates/gate-verdicts.ts'
import { isOver } from '../../../../traffic/model/state.ts'
import { bounded, queryFlag, wholeNumber } from '../../../plugin-kit/spec/request-values.ts'
import { inTurn, type Routes } from '../../api.ts'
import { answers, events } from '../../contract/common.ts'
import { streamEvents } from '../../stream.ts'
import {
  gateRecord,
  journalRecord,
  requestsRecord,
  statusRecord,
  switchRecord,
  transitionAnswers,
  transitionBody,
} from './records.ts'
import { actorName, BASE, idParameter, tags, versionOf } from './switches.ts'

const POLL_MS = 1_000

const transitionRoutes: Routes = (api, { database }) => {
  const engine = engineOn(database)
  api.post(
    `${BASE}/:id/transitions`,
    {
      config: { least: 'operator', reach: 'everywhere', size: 'small', cost: 'light' },
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
      config: { least: 'operator', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Approve the present step',
        params: idParameter,
        body: z.strictObject({ reason: bounded(1000).optional() }).default({}),
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
      config: { least: 'operator', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'A new draft in the other direction',
        params: idParameter,
        body: z.strictObject({ sourceSecurityGroup: bounded(255).optional() }).default({}),
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
}

const gateRoutes: Routes = (api, { database }) => {
  const engine = engineOn(database)
  api.get(
    `${BASE}/:id/gates`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'What the gates of the present step say now',
        params: idParameter,
        response: answers(200, z.array(gateRecord), 404, 502, 503),
      },
    },
    async ({ params }) => {
      const row = await getSwitch(database, params.id)
      const plan = planOf(row)
      return [...(await judgeGates(engine, row, plan, await engine.connect(plan)))]
    },
  )
  api.get(
    `${BASE}/:id/live`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'How the switch stands: what the load balancer does now, steps, gates, and what happens next',
        params: idParameter,
        response: answers(200, statusRecord, 404),
      },
    },
    async ({ params }) => statusJson(await switchStatus(engine, await getSwitch(database, params.id))),
  )
}

const requestRoutes: Routes = (api, { database }) => {
  const engine = engineOn(database)
  api.get(
    `${BASE}/:id/requests`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Requests and errors of both clusters in the last half hour, minute by minute',
        params: idParameter,
        response: answers(200, requestsRecord, 404, 409),
      },
    },
    async ({ params }) => {
      const { minutes, ...rest } = await requestsByCluster(engine, await getSwitch(database, params.id))
      return { ...rest, minutes: minutes.map(({ at, ...counts }) => ({ ...counts, at: at.toISOString() })) }
    },
  )
}

/** With the time as text, as JSON has it. */
const statusJson = ({ next, ...status }: SwitchStatus) =>
  ({ ...status, next: { ...next, at: next.at?.toISOString() ?? null } }) as z.output<typeof statusRecord>

const journalRoutes: Routes = (api, { database, admitStream }) => {
  const entriesOf = async (row: SwitchRow, after: number) => {
    const { plan } = describeSwitch(row)
    return (await journalOf(database, row.id, after)).map(({ switch_id: _id, at, ...entry }) => ({
      ...entry,
      at: at?.toISOString() ?? null,
      says: journalSentence(entry, plan),
    }))
  }
  api.get(
    `${BASE}/:id/journal`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The journal of a switch: each action and its result',
        params: idParameter,
        querystring: z.object({ after: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0) }),
        response: answers(200, z.array(journalRecord), 404),
      },
    },
    async ({ params, query }) => entriesOf(await getSwitch(database, params.id), query.after),
  )
  api.get(
    `${BASE}/:id/events`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'streamed' },
      schema: {
        tags,
        summary:
          'The journal as it grows, as server-sent events; ends when the switch is finished or nobody works on it',
        params: idParameter,
        querystring: z.object({ after: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0), follow: queryFlag }),
        response: events('One journal entry an event; repeat with ?after=sequence.', 404, 503),
      },
    },
    async ({ params, query }, reply) => {
      const { id } = await getSwitch(database, params.id)
      return streamEvents(reply, eventsOf(id, query.after, query.follow !== false, admitStream(reply)))
    },
  )
  async function* eventsOf(id: string, after: number, follows: boolean, signal: AbortSignal): AsyncGenerator<unknown> {
    for (let last = after; !signal.aborted; ) {
      const row = await getSwitch(database, id)
      const entries = await entriesOf(row, last)
      yield* entries
      last = entries.at(-1)?.sequence ?? last
      if (!follows || isOver(row.state)) return
      await sleep(POLL_MS, undefined, { signal })
    }
  }
}

/** Running switches: the routes that move them on, and those that tell what happened. */
export const trafficRunRoutes = inTurn(transitionRoutes, gateRoutes, requestRoutes, journalRoutes)
