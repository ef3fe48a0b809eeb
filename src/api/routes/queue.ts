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
  runTasksOn: z
    .enum(['server', 'workers'])
    .meta({ description: '`server`: servers run the tasks themselves. `workers`: workers take them.' }),
  /** For clients of the previous version; the next version does not send it. */
  redis: z.enum(['unused', 'reachable', 'away']).meta({
    deprecated: true,
    description: 'Read `runTasksOn`. `unused` if that is `server`, otherwise `reachable`.',
  }),
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
        summary: 'Workers with their tasks, and what waits for them',
        response: answers(200, queue),
      },
    },
    async () => {
      const redis = config.runTasksOn === 'workers' ? 'reachable' : 'unused'
      return plain({ ...(await readQueue(database, config)), redis })
    },
  )
}
