import type { Routes } from '../api.ts'
import { askAnswer } from '../ask-answer.ts'
import { answerQuery, answerRecord } from '../contract/answer.ts'
import { answers } from '../contract/common.ts'

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
    ({ query }) => askAnswer({ database, plugins }, query),
  )
}
