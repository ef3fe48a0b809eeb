import type { Fault } from './faults.ts'
import { type Answer, refusal } from './rest/exchange.ts'
import type { Change } from './world/changes.ts'
import type { Collections } from './world/repository.ts'

export const SECONDARY_LIMIT =
  'You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to GitHub Support for help, please include the request ID.'
const TIMEOUT =
  'Something went wrong while executing your query. This may be the result of a timeout, or it could be a GitHub bug. Please include `FAKE:1234:5678` when reporting this issue.'

export const secondaryLimit = (status: number, seconds: number): Answer =>
  refusal(status, SECONDARY_LIMIT, { 'retry-after': String(seconds) })

export const graphqlTimeout = (status = 502): Answer => ({
  status,
  body: { data: null, errors: [{ message: TIMEOUT }] },
})

/** Returns the answer that replaces the real one. Undefined if the fault keeps the real one, perhaps spoilt. */
export function answerInstead(fault: Fault): Answer | undefined {
  const seconds = fault.retryAfterSeconds ?? 1
  switch (fault.kind) {
    case 'too-many-requests':
      return secondaryLimit(429, seconds)
    case 'secondary-limit':
      return secondaryLimit(fault.status ?? 403, seconds)
    case 'bad-gateway':
      return { status: fault.status ?? 502, body: '<html><body><h1>Bad Gateway</h1></body></html>' }
    case 'gone':
      return refusal(fault.status ?? 410, fault.status === 404 ? 'Not Found' : 'Gone')
    case 'graphql-timeout':
      return graphqlTimeout(fault.status)
    case 'too-many-nodes':
      return {
        status: 200,
        body: {
          errors: [
            {
              type: 'MAX_NODE_LIMIT_EXCEEDED',
              message: 'This query requests up to 1,010,100 possible nodes which exceeds the maximum limit of 500,000.',
            },
          ],
        },
      }
    default:
      return undefined
  }
}

/** Removes a part of one node from the answer's list, and adds the error with which GitHub reports it. */
export function withLoss(fault: Fault, answer: Answer): Answer {
  if (fault.kind !== 'lost-node' && fault.kind !== 'lost-part') return answer
  const body = structuredClone(answer.body) as { data: Record<string, any>; errors?: object[] }
  const path = pathOfList(body.data)
  if (path === undefined) throw new Error(`${fault.kind} needs an answer with a list`)
  const nodes: any[] = path.reduce((inner, step) => inner[step], body.data as any)
  // Always the same node, however often it is requested.
  const place = Math.min(1, nodes.length - 1)
  if (fault.kind === 'lost-node') nodes[place] = null
  else nodes[place][fault.field!] = null
  const error = {
    type: fault.type ?? 'FORBIDDEN',
    path: [...path, place, ...(fault.kind === 'lost-part' ? [fault.field] : [])],
    ...(fault.saml && { extensions: { saml_failure: true } }),
    message: fault.saml ? 'Resource protected by organization SAML enforcement.' : 'Something is amiss with this node',
  }
  return { ...answer, body: { ...body, errors: [...(body.errors ?? []), error] } }
}

/** Returns the path to the first list of nodes. */
function pathOfList(data: Record<string, any>): string[] | undefined {
  for (const [name, value] of Object.entries(data)) {
    if (Array.isArray(value) && value.length > 0) return [name]
    if (value === null || typeof value !== 'object' || Array.isArray(value)) continue
    const inner = pathOfList(value)
    if (inner !== undefined) return [name, ...inner]
  }
  return undefined
}

const LISTED: readonly (readonly [RegExp, keyof Collections])[] = [
  [/^\/repos\/[^/]+\/[^/]+\/issues$/, 'issues'],
  [/^\/repos\/[^/]+\/[^/]+\/pulls$/, 'pullRequests'],
  [/^\/repos\/[^/]+\/[^/]+\/actions\/runs$/, 'runs'],
  [/^\/repos\/[^/]+\/[^/]+\/deployments$/, 'deployments'],
  [/^\/repos\/[^/]+\/[^/]+\/releases$/, 'releases'],
]

/** The changes between two pages of a list. By default a record is added to the list. */
export function changesBehind(fault: Fault, path: string): readonly Change[] {
  if (fault.changes !== undefined) return fault.changes
  const kind = LISTED.find(([pattern]) => pattern.test(path))?.[1]
  if (kind === undefined) throw new Error(`changed-totals needs "changes" for ${path}`)
  return [{ repository: path.split('/').slice(2, 4).join('/'), add: kind }]
}
