import { z } from 'zod'
import { decimalOf, wholeOf } from '../../decimal.ts'

/** Digits in an address or a query; what is none stays as it is, and is refused for that. */
const asWhole = (value: unknown) => wholeOf(value) ?? value
const asId = (value: unknown) => decimalOf(value) ?? value
export const id = z.preprocess(asId, z.int().min(0).max(Number.MAX_SAFE_INTEGER))
export const wholeNumber = (least: number, most: number) => z.preprocess(asWhole, z.int().min(least).max(most))
export const idParameter = z.object({ id })
/** RFC 3339 in answers. */
export const time = z.date()
export const timeOrNull = z.date().nullable()

export const FURTHEST_PAGE = 1_000_000_000
/** More rows than this no page has, whatever list it is of. */
export const LARGEST_PAGE = 1000
/** Below 1 means the default, as in the reference; a page that is too large is cut, and its count tells of the rest. */
const position = (fallback: number, most: number, description: string) =>
  z
    .preprocess(asWhole, z.int().optional())
    .transform((value) => (value === undefined || value < 1 ? fallback : Math.min(value, most)))
    .meta({ description })
export const paging = {
  page: position(1, FURTHEST_PAGE, 'From 1.'),
  pageSize: position(50, LARGEST_PAGE, `At most ${LARGEST_PAGE}; a larger one is taken for that.`),
}

/** `true`, `1`, `false`, `0`; nothing else has a meaning in a query. */
export const queryFlag = z
  .enum(['true', '1', 'false', '0', ''])
  .optional()
  .transform((value) => (value === undefined || value === '' ? undefined : value === 'true' || value === '1'))

export const failure = z
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
  .meta({ id: 'Success', description: 'It is done.' })
/** What access rules answer: shorter than other failures, as in the reference. */
export const refusal = z
  .object({ success: z.literal(false), message: z.string() })
  .meta({ id: 'Refusal', description: 'Not allowed.' })

/** Of a body. Zod leaves `examples` out where it transforms what came. */
export const example = (value: unknown) => ({ 'x-examples': { example: { value } } })

export type Answers = Record<number | 'default', any> | Record<number, any>
const failing = (failures: readonly number[]): Answers =>
  Object.fromEntries([400, 503, ...failures].map((status) => [status, failure]))
/** What a route answers: its success, and the failures that are its own; 400 is malformed, 503 the database away. */
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
/** Whatever another server says passes through, with its own status. */
export const passedOn = (...failures: readonly number[]): Answers => ({
  ...answers(200, z.any().meta({ description: 'What it says.' }), ...failures),
  default: z.any().meta({ description: 'What it says, with the status that it has.' }),
})
/** An answer that is no JSON. */
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
/** Text of one kind, or the same as JSON. */
export const eitherWay = (
  type: string,
  schema: z.ZodType,
  description: string,
  ...failures: readonly number[]
): Answers => ({
  200: { description, content: { [type]: { schema: z.string() }, 'application/json': { schema } } },
  ...failing(failures),
})
/** Rows as JSON, or as CSV where `format=csv` asks for it. */
export const tables = (schema: z.ZodType, description: string, ...failures: readonly number[]): Answers => ({
  200: { description, content: { 'application/json': { schema }, 'text/csv': { schema: z.string() } } },
  ...failing(failures),
})
