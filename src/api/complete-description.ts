/** Adds what no single route can declare: names, access rules, and the answers that any request may get. */
import { STATUS_CODES } from 'node:http'
import { SESSION_COOKIE } from './access/sessions.ts'

interface Rules {
  /** True if the route answers without signing in. */
  isPublic(method: string, path: string): boolean
}

const json = (...names: readonly string[]) => {
  const schemas = names.map((name) => ({ $ref: `#/components/schemas/${name}` }))
  return { 'application/json': { schema: schemas.length === 1 ? schemas[0] : { anyOf: schemas } } }
}
const text = { schema: { type: 'string' } }
const seconds = { 'Retry-After': { description: 'Seconds to wait.', schema: { type: 'string' } } }

const SECURITY_SCHEMES = {
  bearer: { type: 'http', scheme: 'bearer', description: 'The access token; for paths under /rest an API key.' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: SESSION_COOKIE,
    description:
      'The session cookie of a signed-in browser. Changes also need the value of the CSRF cookie in the header X-CSRF-Token.',
  },
}
/** By status: the answers that any request may get. */
const SHARED = new Map<string, readonly [name: string, answer: object]>(
  Object.entries({
    400: [
      'BadRequest',
      { description: 'Something is wrong with the request; the message says what.', content: json('Failure') },
    ],
    401: ['Unauthorized', { description: 'Sign in first, or send a token.', content: json('Refusal', 'Failure') }],
    403: ['Forbidden', { description: 'You are not allowed to do this.', content: json('Refusal', 'Failure') }],
    404: ['NotFound', { description: 'Not found.', content: { ...json('Failure'), 'text/plain': text } }],
    405: [
      'MethodNotAllowed',
      {
        description: 'The address does not allow this method.',
        headers: { Allow: { description: 'The allowed methods.', required: true, schema: { type: 'string' } } },
        content: json('Failure'),
      },
    ],
    413: ['TooLarge', { description: 'The body is too large.', content: json('Failure') }],
    429: [
      'TooManyRequests',
      { description: 'Too many requests or attempts.', headers: seconds, content: json('Refusal', 'Failure') },
    ],
    431: ['TooLong', { description: 'The address or the headers are too long.', content: json('Failure') }],
    503: ['Unavailable', { description: 'Try again later.', headers: seconds, content: json('Failure') }],
  }),
)

/** A part of the document that the framework generates. */
// biome-ignore lint/suspicious/noExplicitAny: its form is that of OpenAPI, which has no types here
type OpenApi = any

const ALWAYS = ['400', '401', '403', '405', '429', '431', '503']

export function completeDescription(
  document: OpenApi,
  { isPublic, needsSignIn }: Rules & { needsSignIn: boolean },
): OpenApi {
  const paths = Object.fromEntries(
    Object.entries<OpenApi>(document.paths).map(([path, methods]) => [
      path.replace('{*}', '{path}'),
      Object.fromEntries(
        Object.entries<OpenApi>(methods).map(([method, operation]) => [
          method,
          {
            operationId: operationId(method, path),
            ...operation,
            parameters: parametersOf(path, operation),
            ...(operation.requestBody && { requestBody: bodyOf(operation.requestBody) }),
            security: securityOf(isPublic(method, path), needsSignIn),
            responses: responsesOf(path, operation),
          },
        ]),
      ),
    ]),
  )
  const responses = Object.fromEntries(SHARED.values())
  const components = { ...document.components, responses, securitySchemes: SECURITY_SCHEMES }
  return {
    ...document,
    paths,
    components: { ...components, schemas: usedSchemas({ paths, responses }, components.schemas) },
  }
}

/** `GET /blueprints/{id}/pipelines` → getBlueprintsByIdPipelines */
function operationId(method: string, path: string): string {
  const words = path
    .replace('{*}', '{path}')
    .replace(/\{(\w+)\}/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
  return [method, ...(words.length > 0 ? words : ['root'])]
    .map((word, index) => (index === 0 ? word : word[0]?.toUpperCase() + word.slice(1)))
    .join('')
}

/** Names the wildcard at the end of a path, and describes its query as one parameter with spread fields. */
function parametersOf(path: string, { parameters = [] }: OpenApi): object[] {
  if (!path.includes('{*}')) return parameters
  const query = {
    in: 'query',
    name: 'query',
    description: 'Any parameters; they are passed on as they are.',
    style: 'form',
    explode: true,
    schema: { type: 'object', additionalProperties: true },
  }
  return [...parameters.map((each: OpenApi) => (each.name === '*' ? { ...each, name: 'path' } : each)), query]
}

/** Makes a body optional, and allows null, if all of its fields are optional. */
function bodyOf(body: OpenApi): object {
  const isNeeded = ({ type, anyOf, required }: OpenApi) => required?.length > 0 || anyOf || type === 'array'
  const content = Object.entries<OpenApi>(body.content).map(([type, { schema, ...media }]) => {
    const isObject = schema.type === 'object' && !isNeeded(schema)
    return [type, { ...media, schema: isObject ? { ...schema, type: ['object', 'null'] } : schema }]
  })
  const required = Object.values<OpenApi>(body.content).some(({ schema }) => isNeeded(schema))
  return { ...body, required, content: Object.fromEntries(content) }
}

const securityOf = (isPublic: boolean, needsSignIn: boolean) =>
  isPublic ? [{}] : [...(needsSignIn ? [] : [{}]), { bearer: [] }, { session: [] }]

function responsesOf(path: string, { responses, requestBody }: OpenApi): object {
  const own = Object.entries<OpenApi>(responses)
    .filter(([status]) => !SHARED.has(status))
    .map(([status, answer]) => [status, ownAnswer(status, answer)])
  const hasParts = path.includes('{')
  const isPossible = (status: string) =>
    ALWAYS.includes(status) || (status === '404' && hasParts) || (status === '413' && requestBody)
  const shared = [...SHARED]
    .filter(([status]) => isPossible(status) || Object.hasOwn(responses, status))
    .map(([status, [name, answer]]) => [status, withPages(responses[status], name, answer)])
  return Object.fromEntries([...own, ...shared])
}

/** Refers to the shared answer. If the answer may also be a page, copies it and adds the page. */
function withPages(own: OpenApi, name: string, answer: OpenApi): object {
  const { 'application/json': _, ...pages } = own?.content ?? {}
  if (Object.keys(pages).length === 0) return { $ref: `#/components/responses/${name}` }
  return { ...answer, content: { ...answer.content, ...pages } }
}

/** Answers without a description get the name of their status. Redirects have only the Location header. */
function ownAnswer(status: string, { content, ...answer }: OpenApi): object {
  const description =
    answer.description === 'Default Response'
      ? (STATUS_CODES[status] ?? 'Exactly as the other server sent it.')
      : answer.description
  if (!status.startsWith('3')) return { ...answer, description, ...(content && { content }) }
  return { description, headers: { Location: { required: true, schema: { type: 'string' } } } }
}

/** Keeps the schemas that something refers to, and those to which these refer. */
function usedSchemas(parts: object, schemas: Record<string, unknown>): object {
  const used = new Set<string>()
  const waiting: unknown[] = [parts]
  while (waiting.length > 0) {
    for (const [, name = ''] of JSON.stringify(waiting.pop()).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (used.has(name)) continue
      used.add(name)
      waiting.push(schemas[name] ?? null)
    }
  }
  const kept = Object.entries(schemas).filter(([name]) => used.has(name))
  // They come in the order in which their files were loaded, which is not always the same.
  return Object.fromEntries(kept.sort(([one], [other]) => (one < other ? -1 : 1)))
}
