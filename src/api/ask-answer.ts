/** Reads the answer that a request asks for, in the same way for the API and the terminal. */
import type { z } from 'zod'
import { readAnswer } from '../control-plane/answer/read-answer.ts'
import type { Measured } from '../control-plane/projects/measure.ts'
import type { Answer } from '../metrics/answer/answer.ts'
import type { answerQuery } from './contract/answer.ts'
import { wholeAskedFor } from './metric-filter.ts'

export async function askAnswer(context: Measured, query: z.output<typeof answerQuery>): Promise<Answer> {
  const { whose, filter } = await wholeAskedFor(context.database, { ...query, reading: 'known' })
  const asked = new URLSearchParams(chosen({ ...query, from: filter.from, to: filter.to }))
  return readAnswer(context, {
    whose,
    filter,
    itemsAt: (metric) => `/v1/metrics/${metric}/items?${asked}`,
    today: new Date(),
  })
}

/** The parts of a query that say something, as they are written in an address. */
const chosen = (query: Readonly<Record<string, unknown>>): [string, string][] =>
  Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === false ? [] : [[name, value instanceof Date ? value.toISOString() : String(value)]],
  )
