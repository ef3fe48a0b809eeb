import { z } from 'zod'
import { collectedElsewhere } from '../../control-plane/projects/collected-elsewhere.ts'
import { lacksOf } from '../../control-plane/projects/partial-data.ts'
import { pipeline, quarantined, receipt } from '../../control-plane/records.ts'
import { bounded, wholeNumber } from '../../plugin-kit/spec/request-values.ts'
import { visibleProjects } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { plain } from '../api.ts'
import { collectedBy } from '../contract/collected-by.ts'
import { answers, paging } from '../contract/common.ts'
import { requireProject } from '../metric-filter.ts'

const tags = ['collected']

const word = bounded(255).min(1)
const connectionId = z.int().min(1)
const filter = {
  project: word.optional().meta({ description: 'Only what this project collects.' }),
  plugin: word.optional().meta({ description: 'Only what this plugin collects.' }),
  connectionId: wholeNumber(1, Number.MAX_SAFE_INTEGER).optional(),
  scopeId: word.optional(),
}
/** The target to run again: a project, or one scope. */
const driven = z.union([
  z.strictObject({ project: word }),
  z.strictObject({ plugin: word, connectionId, scopeId: word }),
])

const lack = z.object({
  kind: z.enum(['history', 'run']).meta({
    description: 'history: git could not be read; run: tasks of the last run failed',
  }),
  seen: z.string(),
  remedy: z.string(),
  run: z.int().nullable().meta({ description: 'The run that tells more.' }),
})

/** Shows what collections got and missed, and the records in quarantine. */
export const collectedRoutes: Routes = (api, { control, services: { collected }, servicesFor }) => {
  api.get(
    '/v1/partial-data',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'What the numbers of a project lack, what to do about it, and who collected its data if it never ran',
        querystring: z.object({ project: word }),
        response: answers(200, z.object({ partial: z.array(lack), collectedBy }), 404),
      },
    },
    async (request) => {
      const { project } = request.query
      await requireProject(control.context.database, project)
      const elsewhere = await collectedElsewhere(control.context, project, visibleProjects(request))
      return { partial: await lacksOf(control.context, project), collectedBy: elsewhere ?? null }
    },
  )
  api.get(
    '/v1/receipts',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'For each list: what was asked for, what came, and what is missing',
        querystring: z.object(filter),
        response: answers(200, z.object({ count: z.int(), receipts: z.array(receipt) }), 404),
      },
    },
    async ({ query }) => {
      const receipts = await collected.receipts(query)
      return { count: receipts.length, receipts }
    },
  )
  api.get(
    '/v1/quarantine',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags,
        summary: 'Records that could not be used, newest first',
        querystring: z.object({ ...filter, ...paging }),
        response: answers(200, z.object({ count: z.int(), records: z.array(quarantined) }), 404),
      },
    },
    async ({ query }) => {
      const { count, items } = await collected.quarantined(query)
      return { count, records: items }
    },
  )
  const again = (path: string, summary: string, act: 'redrive' | 'askAgain') =>
    api.post(
      path,
      {
        config: { least: 'operator', reach: 'body', size: 'small', cost: 'light' },
        schema: { tags, summary, body: driven, response: answers(201, pipeline, 404) },
      },
      async (request, reply) => reply.code(201).send(plain(await servicesFor(request).collected[act](request.body))),
    )
  again('/v1/quarantine/redrive', 'Process records again that were put aside, for a project or a scope', 'redrive')
  again('/v1/gaps/ask-again', 'Collect, and ask again for all missing data, also for what was given up', 'askAgain')
}
