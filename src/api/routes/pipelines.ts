import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { decimalOf } from '../../basics/decimal.ts'
import { pipeline, pipelineSubtasks, task, taskStep, taskSubject } from '../../control-plane/records.ts'
import { isFinished } from '../../control-plane/runs/states.ts'
import {
  body,
  bounded,
  example,
  flag,
  id,
  idParameter,
  labels,
  moment,
  nullAsAbsent,
  present,
  text,
  whole,
} from '../../plugin-kit/spec/request-values.ts'
import { holdsUp } from '../../runner/standstill/standstill.ts'
import { visibleProjects } from '../access/gate.ts'
import { inTurn, type Routes } from '../api.ts'
import { EXAMPLE_PLAN, planBody } from '../contract/blueprint-body.ts'
import { answers, events, paging, streams, success } from '../contract/common.ts'
import { standing, standingAnswer, standingInGeneral } from '../contract/standing.ts'
import { done } from '../envelope.ts'
import { inTime } from '../in-time.ts'
import { inTurns, streamEvents } from '../stream.ts'

const tags = ['pipelines']
/** A number above 0, or the word `true`: only unfinished runs. */
const pending = z
  .string()
  .optional()
  .transform((value) => (value === undefined ? undefined : (decimalOf(value) ?? 0) > 0 || value === 'true'))
export const pipelineFilter = {
  ...paging,
  status: z
    .string()
    .meta({ description: 'For example TASK_COMPLETED. An unknown status gives an empty list.' })
    .optional(),
  pending,
  label: z.string().optional(),
}
const listed = z.object({ count: z.int(), pipelines: z.array(pipeline) })

const newPipeline = body(
  {
    name: nullAsAbsent(text),
    plan: planBody,
    labels: nullAsAbsent(labels),
    priority: nullAsAbsent(whole),
    blueprintId: nullAsAbsent(id),
    skipOnFail: nullAsAbsent(flag),
    timeAfter: nullAsAbsent(moment),
    skipCollectors: nullAsAbsent(flag),
    fullSync: nullAsAbsent(flag),
  },
  [
    'id',
    'createdAt',
    'updatedAt',
    'totalTasks',
    'finishedTasks',
    'beganAt',
    'finishedAt',
    'status',
    'message',
    'errorName',
    'spentSeconds',
    'interruptions',
    'stage',
  ],
).meta(example({ name: 'four keys', plan: EXAMPLE_PLAN }))

/** Sends the tasks in pieces, because a run may have more than fit into one string. */
async function* inPieces(count: number, pieces: AsyncIterable<readonly unknown[]>): AsyncGenerator<string> {
  yield `{"count":${count},"tasks":[`
  let separator = ''
  for await (const piece of pieces) {
    if (piece.length === 0) continue
    yield separator + piece.map((each) => JSON.stringify(each)).join(',')
    separator = ','
  }
  yield ']}'
}

const list = z.object({
  ...pipelineFilter,
  blueprint_id: id.optional(),
  project: bounded(255).optional().meta({ description: 'Only runs of its blueprint.' }),
  keyword: bounded(255).optional().meta({ description: 'A part of the name, or the number.' }),
})

const runRoutes: Routes = (api, { database, services, servicesFor, shared, standstill }) => {
  const { pipelines } = services
  api.post(
    '/pipelines',
    {
      config: { least: 'operator', reach: 'everywhere', size: 'list', cost: 'light' },
      schema: { tags, summary: 'Run a plan', body: newPipeline, response: answers(201, pipeline) },
    },
    async (request, reply) => {
      const { plan, ...rest } = request.body
      const created = await servicesFor(request).pipelines.create({ ...present(rest), plan: services.parsePlan(plan) })
      return reply.code(201).send(created)
    },
  )
  api.get(
    '/pipelines',
    {
      config: { least: 'viewer', reach: 'somewhere', size: 'none', cost: 'light' },
      schema: { tags, summary: 'Runs, newest first', querystring: list, response: answers(200, listed) },
    },
    async (request, reply) => {
      const { blueprint_id: blueprintId, project, ...query } = request.query
      const visible = visibleProjects(request)
      const projects = project === undefined ? visible : [project].filter((each) => visible?.includes(each) ?? true)
      const answer = await shared.share(JSON.stringify([projects, request.url]), async () => {
        if (projects?.length === 0) return { count: 0, pipelines: [] }
        const { count, items } = await pipelines.list(present({ ...query, blueprintId, projects }))
        return { count, pipelines: items }
      })
      return reply.type('application/json; charset=utf-8').send(answer)
    },
  )
  api.get(
    '/pipelines/:id',
    {
      config: { least: 'viewer', reach: 'pipeline', size: 'none', cost: 'light' },
      schema: { tags, summary: 'One run', params: idParameter, response: answers(200, pipeline, 404) },
    },
    ({ params }) => pipelines.get(params.id),
  )
  api.get(
    '/v1/pipelines/:id/standing',
    {
      config: { least: 'viewer', reach: 'pipeline', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Why a run stands still; nothing if it does not, or has ended',
        params: idParameter,
        response: answers(200, z.object({ standing: z.array(standing) }), 404),
      },
    },
    async (request) => {
      const { id: run } = request.params
      const { standing: all } = await standstill.latest()
      // While the database is unavailable nobody knows how far the run is. Clients ask about runs under way, so it counts as one.
      const pipeline = await inTime(database, pipelines.get(run))
      const isOver = pipeline !== undefined && isFinished(pipeline.status)
      const tell = visibleProjects(request) ? standingInGeneral : standingAnswer
      return { standing: isOver ? [] : all.filter(holdsUp(run)).map(tell) }
    },
  )
  api.delete(
    '/pipelines/:id',
    {
      config: { least: 'operator', reach: 'pipeline', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Cancel a run; nothing happens to a finished one',
        params: idParameter,
        response: answers(200, success, 404),
      },
    },
    async (request) => {
      await servicesFor(request).pipelines.cancel(request.params.id)
      return done()
    },
  )
}

const taskRoutes: Routes = (api, { services }) => {
  const { pipelines } = services
  api.get(
    '/pipelines/:id/tasks',
    {
      config: { least: 'viewer', reach: 'pipeline', size: 'none', cost: 'streamed' },
      schema: {
        tags,
        summary: 'The tasks of a run: the newest attempt of each task in the plan',
        params: idParameter,
        response: answers(200, z.object({ count: z.int(), tasks: z.array(task) }), 404),
      },
    },
    async ({ params }, reply) => {
      const { count, pieces } = await pipelines.tasksInPieces(params.id)
      return reply.type('application/json; charset=utf-8').send(inTurns(inPieces(count, pieces)))
    },
  )
  api.get(
    '/pipelines/:id/subtasks',
    {
      config: { least: 'viewer', reach: 'pipeline', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The tasks of a run, with their steps',
        params: idParameter,
        response: answers(200, pipelineSubtasks, 404),
      },
    },
    ({ params }) => pipelines.subtasks(params.id),
  )
  api.get(
    '/v1/pipelines/:id/subjects',
    {
      config: { least: 'viewer', reach: 'pipeline', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The scopes that the tasks of a run work on',
        params: idParameter,
        response: answers(200, z.object({ subjects: z.array(taskSubject) }), 404),
      },
    },
    async ({ params }) => ({ subjects: [...(await pipelines.subjects(params.id))] }),
  )
  api.get(
    '/v1/tasks/:id/steps',
    {
      config: { least: 'viewer', reach: 'task', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'The steps of a task, in their order',
        params: idParameter,
        response: answers(200, z.object({ steps: z.array(taskStep) }), 404),
      },
    },
    async ({ params }) => ({ steps: [...(await pipelines.steps(params.id))] }),
  )
}

const rerunRoutes: Routes = (api, { servicesFor }) => {
  api.post(
    '/pipelines/:id/rerun',
    {
      config: { least: 'operator', reach: 'pipeline', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: 'Run again what did not complete',
        params: idParameter,
        response: answers(200, z.array(task), 404),
      },
    },
    (request) => servicesFor(request).pipelines.rerun(request.params.id),
  )
  api.post(
    '/tasks/:id/rerun',
    {
      config: { least: 'operator', reach: 'task', size: 'small', cost: 'light' },
      schema: { tags, summary: 'Run one task again', params: idParameter, response: answers(200, task, 404) },
    },
    (request) => servicesFor(request).pipelines.rerunTask(request.params.id),
  )
}

const logRoutes: Routes = (api, { services, admitStream }) => {
  const { pipelines } = services
  api.get(
    '/pipelines/:id/logging.tar.gz',
    {
      config: { least: 'viewer', reach: 'pipeline', size: 'none', cost: 'streamed' },
      schema: {
        tags,
        summary: 'Logs of the run and of each task',
        params: idParameter,
        response: streams('application/gzip', 'An archive of text files.', 404),
      },
    },
    async ({ params }, reply) => {
      const archive = await pipelines.logArchive(params.id)
      return reply
        .type('application/gzip')
        .header('content-disposition', 'attachment; filename="logging.tar.gz"')
        .send(inTurns(archive))
    },
  )
  api.get(
    '/v1/pipelines/:id/events',
    {
      config: { least: 'viewer', reach: 'pipeline', size: 'none', cost: 'streamed' },
      schema: {
        tags,
        summary: 'Progress as server-sent events: a snapshot now and at each change, until the run is finished',
        params: idParameter,
        response: events('`{ pipeline, tasks }` as the data of each event.', 404, 503),
      },
    },
    async (request, reply) => {
      await pipelines.get(request.params.id)
      return streamEvents(reply, pipelines.watch(request.params.id, admitStream(reply)))
    },
  )
  api.get(
    '/v1/tasks/:id/log',
    {
      config: { least: 'viewer', reach: 'task', size: 'none', cost: 'streamed' },
      schema: {
        tags,
        summary: 'The log of a task; it continues while the task runs',
        params: idParameter,
        response: streams('text/plain', 'Lines of text.', 404, 503),
      },
    },
    async (request, reply) => {
      const lines = await pipelines.followLog(request.params.id, admitStream(reply))
      return reply.type('text/plain; charset=utf-8').send(inTurns(begun(reply, lines)))
    },
  )
}

export const pipelineRoutes = inTurn(runRoutes, taskRoutes, rerunRoutes, logRoutes)

/** Sends the headers first, so that the client knows that the answer has begun, even while a waiting task writes nothing. */
async function* begun<Item>(reply: FastifyReply, items: AsyncIterable<Item>): AsyncGenerator<Item> {
  reply.raw.flushHeaders()
  yield* items
}
