import type { Routes } from '../api.ts'
import { streams } from '../contract/common.ts'

export const ownMeasureRoutes: Routes = (api, { measures }) => {
  api.get(
    '/metrics',
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: {
        tags: ['system'],
        summary: 'What Prometheus reads: requests, queue, tasks, sources, database, memory',
        response: streams('text/plain', "Prometheus' text format."),
      },
    },
    async (_request, reply) => reply.type(measures.contentType).send(await measures.read()),
  )
}
