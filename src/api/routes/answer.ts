import { readAnswer } from '../../control-plane/answer/read-answer.ts'
import type { Routes } from '../api.ts'
import { answerQuery, answerRecord } from '../contract/answer.ts'
import { answers } from '../contract/common.ts'
import { filterOf } from '../metric-filter.ts'

export const answerRoutes: Routes = (api, { database, plugins }) => {
  api.get(
    '/v1/answer',
    {
      config: { least: 'viewer', reach: 'query', size: 'none', cost: 'light' },
      schema: {
        tags: ['metrics'],
        summary: 'How are we doing, why, what to look at, and how sure is that: the whole answer for a range',
        querystring: answerQuery,
        response: answers(200, answerRecord, 404),
      },
    },
    async ({ query }) => {
      const filter = await filterOf(database, { ...query, reading: 'known' })
      const shared = { from: filter.from.toISOString(), to: filter.to.toISOString(), environment: filter.environment }
      const asked = new URLSearchParams({ project: query.project, ...shared, policy: query.policy })
      return readAnswer(
        { database, plugins },
        {
          whose: { kind: 'project', name: query.project },
          filter,
          itemsAt: (metric) => `/v1/metrics/${metric}/items?${asked}`,
          today: new Date(),
        },
      )
    },
  )
}
