import { readAnswer } from '../../control-plane/answer/read-answer.ts'
import type { Routes } from '../api.ts'
import { answerQuery, answerRecord } from '../contract/answer.ts'
import { answers } from '../contract/common.ts'
import { wholeAskedFor } from '../metric-filter.ts'

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
      const { whose, filter } = await wholeAskedFor(database, { ...query, reading: 'known' })
      const asked = new URLSearchParams(chosen({ ...query, from: filter.from, to: filter.to }))
      return readAnswer(
        { database, plugins },
        {
          whose,
          filter,
          itemsAt: (metric) => `/v1/metrics/${metric}/items?${asked}`,
          today: new Date(),
        },
      )
    },
  )
}

/** The parts of a query that say something, as they are written in an address. */
const chosen = (query: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value instanceof Date ? value.toISOString() : String(value)]],
  )
