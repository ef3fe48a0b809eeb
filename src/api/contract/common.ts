import { z } from 'zod'
import { asWhole } from '../../plugin-kit/spec/request-values.ts'

/** RFC 3339 in answers. */
export const time = z.date()
export const timeOrNull = z.date().nullable()

export const FURTHEST_PAGE = 1_000_000_000
/** The most rows of one page, in any list. */
export const LARGEST_PAGE = 1000
/** Below 1 means the default, as in DevLake. A value that is too large is reduced; the count in the answer shows that there is more. */
const position = (fallback: number, most: number, description: string) =>
  z
    .preprocess(asWhole, z.int().optional())
    .transform((value) => (value === undefined || value < 1 ? fallback : Math.min(value, most)))
    .meta({ description })
export const paging = {
  page: position(1, FURTHEST_PAGE, 'From 1.'),
  pageSize: position(50, LARGEST_PAGE, `At most ${LARGEST_PAGE}; a larger value counts as this maximum.`),
}

const failure = z
  .object({
    code: z.literal(0),
    success: z.literal(false),
    message: z.string(),
    causes: z.array(z.string()).nullable(),
    data: z.any(),
  })
  .meta({ id: 'Failure', description: 'What is wrong, and what to change.' })
export const success = z
  .object({
    code: z.literal(0),
    success: z.literal(true),
    message: z.string(),
    causes: z.null(),
    data: z.null(),
  })
  .meta({ id: 'Success', description: 'The request succeeded.' })
// The answer of access rules: shorter than other failures, as in DevLake. Routes refer to it by its id alone.
z.globalRegistry.add(z.object({ success: z.literal(false), message: z.string() }), {
  id: 'Refusal',
  description: 'Not allowed.',
})

/** Tests compare the answers of routes with their schemas; types do not. */
// biome-ignore lint/suspicious/noExplicitAny: a route with an unknown answer may give anything
export type Answers = Record<number | 'default', any> | Record<number, any>
const failing = (failures: readonly number[]): Answers =>
  Object.fromEntries([400, 503, ...failures].map((status) => [status, failure]))
/** The answers of a route: success, and its own failures. 400 (malformed request) and 503 (database unavailable) are always added. */
export const answers = (status: number, schema: z.ZodType, ...failures: readonly number[]): Answers => ({
  [status]: schema,
  ...failing(failures),
})
/** Failures that a browser gets as a page. */
export const failurePages = (...statuses: readonly number[]): Answers => {
  const content = { 'application/json': { schema: failure }, 'text/html': { schema: z.string() } }
  return Object.fromEntries(statuses.map((status) => [status, { description: 'Default Response', content }]))
}
/** Further failures of routes that ask another server. */
export const REMOTE_FAILURES = [502, 504]
/** For routes that pass on whatever another server answers, with its own status. */
export const passedOn = (...failures: readonly number[]): Answers => ({
  ...answers(200, z.any().meta({ description: 'The answer of the other server.' }), ...failures),
  default: z.any().meta({ description: 'The answer of the other server, with its own status.' }),
})
/** An answer that is not JSON. */
export const streams = (type: string, description: string, ...failures: readonly number[]): Answers => ({
  200: { description, content: { [type]: { schema: z.string() } } },
  ...failing(failures),
})
/** Server-sent events. */
export const events = (description: string, ...failures: readonly number[]): Answers => ({
  200: {
    description,
    content: {
      'text/event-stream': { schema: z.object({ event: z.string().optional(), data: z.string().optional() }) },
    },
  },
  ...failing(failures),
})
/** Text of one type, or the same content as JSON. */
export const eitherWay = (
  type: string,
  schema: z.ZodType,
  description: string,
  ...failures: readonly number[]
): Answers => ({
  200: { description, content: { [type]: { schema: z.string() }, 'application/json': { schema } } },
  ...failing(failures),
})
/** Rows as JSON, or as CSV with `format=csv`. */
export const tables = (schema: z.ZodType, description: string, ...failures: readonly number[]): Answers => ({
  200: { description, content: { 'application/json': { schema }, 'text/csv': { schema: z.string() } } },
  ...failing(failures),
})
