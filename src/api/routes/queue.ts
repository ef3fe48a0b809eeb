import { z } from 'zod'
import { readQueue } from '../../runner/workers/queue-state.ts'
import { plain, type Routes } from '../api.ts'
import { answers, time } from '../contract/common.ts'

const task = z.object({
  id: z.int(),
  pipelineId: z.int(),
  plugin: z.string(),
  project: z.string(),
  since: time.nullable(),
})
const queue = z.object({
  redis: z
    .enum(['unused', 'reachable', 'away'])
    .meta({ description: '`unused`: QUEUE_URL is not set, and servers run the tasks themselves.' }),
  servers: z.array(z.object({ host: z.string(), version: z.string() })),
  workers: z.array(
    z.object({
      host: z.string(),
      version: z.string(),
      concurrency: z.int().meta({ description: 'Tasks at a time.' }),
      isDraining: z.boolean().meta({ description: 'It takes nothing new, and will stop.' }),
      since: time.nullable(),
      tasks: z.array(task),
    }),
  ),
  waiting: z.array(
    z.object({
      project: z.string().meta({ description: 'Empty: tasks of no project.' }),
      tasks: z.int(),
      notes: z.array(z.string()).meta({ description: 'Why workers left tasks to others.' }),
    }),
  ),
})

export const queueRoutes: Routes = (api, { config, database }) => {
  api.get(
    '/v1/queue',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags: ['system'],
        summary: 'Workers with their tasks, what waits for them, and whether Redis answers',
        response: answers(200, queue),
      },
    },
    async () => plain(await readQueue(database, config.queueUrl)),
  )
}
