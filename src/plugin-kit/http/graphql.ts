import type { RawRecord } from '../../database/table.ts'
import type { HttpRequest, HttpResponse, Verdict } from './http-message.ts'
import { retryAfter } from './judge.ts'
import type { Paging } from './paging.ts'
import type { Quota } from './quota.ts'

interface GraphqlOptions {
  /** Default: '/graphql'. */
  readonly path?: string
  readonly class?: string
  /** Accept an answer in which some of the things asked for by name are missing, because they do not exist or are hidden. */
  readonly tolerateMissing?: boolean
}

export function graphqlRequest(
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  { path = '/graphql', class: className = 'graphql', tolerateMissing = false }: GraphqlOptions = {},
): HttpRequest {
  return {
    method: 'POST',
    path,
    class: className,
    body: { query, variables },
    check: (response, now, quota) => graphqlVerdict(response, tolerateMissing, now, quota),
    // A named thing that does not exist any more does not count as missing.
    problems: ({ body }) =>
      errorsIn(body).flatMap((error) => (tolerateMissing && isGone(error) ? [] : problemOf(error))),
  }
}

interface GraphqlError {
  readonly type?: string
  readonly message?: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: { readonly code?: string; readonly saml_failure?: boolean }
}

const LIMITED = /^RATE_?LIMIT/
const SECONDARY = /secondary rate limit|abuse detection/i
const TOO_LARGE = /MAX_NODE_LIMIT|RESOURCE_LIMITS|node limit|too many nodes|resource limits|complexity/i
const PASSING = /time.?out|timed out|something went wrong|in time|service unavailable|temporarily/i
const FORBIDDEN = /FORBIDDEN|INSUFFICIENT_SCOPES|UNAUTHORIZED/
/** Errors that a change of the connection's settings can solve. They are always reported. */
const MENDABLE = /INSUFFICIENT_SCOPES|UNAUTHORIZED/

const errorsIn = (body: RawRecord): readonly GraphqlError[] => (Array.isArray(body?.errors) ? body.errors : [])
const kindOf = ({ type, extensions }: GraphqlError): string => type ?? extensions?.code ?? ''

const isGone = (error: GraphqlError): boolean => kindOf(error) === 'NOT_FOUND'
const isInList = ({ path }: GraphqlError): boolean => path?.some((step) => typeof step === 'number') ?? false

/**
 * The text by which an error is classified: its type; or, if the server gives none and the error is not about one node, its
 * message. Text in quotes is removed from the message, because people wrote it.
 */
function signOf(error: GraphqlError): string {
  if (kindOf(error) || isInList(error)) return kindOf(error)
  return (error.message ?? '').replaceAll(/'[^']*'|"[^"]*"|`[^`]*`/g, '')
}

/** True for an error about something inside a list or, if missing things are tolerated, about one of the named things. */
const isOfPart = (error: GraphqlError, tolerateMissing: boolean): boolean =>
  !MENDABLE.test(kindOf(error)) &&
  (isInList(error) || (tolerateMissing && (error.path !== undefined || isGone(error) || isHidden(error))))
const isHidden = ({ extensions }: GraphqlError): boolean => extensions?.saml_failure === true

const problemOf = (error: GraphqlError): string => {
  const message = error.message || kindOf(error) || 'an error without a message'
  return error.path ? `${error.path.join('.')}: ${message}` : message
}

/** GraphQL answers 200 and puts its failures into a list. The most serious of them decides. */
function graphqlVerdict(
  response: HttpResponse,
  tolerateMissing: boolean,
  now: number,
  quota: Quota | undefined,
): Verdict | undefined {
  const { body, headers } = response
  const errors = errorsIn(body)
  const complaint = body?.data ? '' : String(body?.message ?? '')
  const reason = [
    ...new Set([...(complaint ? [complaint] : []), ...errors.map((error) => error.message || problemOf(error))]),
  ].join('; ')
  const some = (pattern: RegExp) => errors.some((error) => pattern.test(signOf(error)))
  const isSecondary =
    SECONDARY.test(complaint) || some(SECONDARY) || (some(LIMITED) && headers['retry-after'] !== undefined)
  if (isSecondary) {
    const wait = retryAfter(headers['retry-after'], now)
    return { kind: 'limited', reason, ofClass: false, ...(wait !== undefined && { until: new Date(now + wait) }) }
  }
  if (some(LIMITED)) {
    const resetAt = Date.parse(body.data?.rateLimit?.resetAt ?? '')
    const until = Number.isNaN(resetAt)
      ? quota && quota.remaining <= 0
        ? quota.resetsAt
        : undefined
      : new Date(resetAt)
    return { kind: 'limited', reason, ofClass: true, ...(until && { until }) }
  }
  if (errors.length === 0) {
    if (body?.data) return undefined
    return { kind: 'retry', reason: complaint || 'a GraphQL answer without data', heavy: true }
  }
  if (some(TOO_LARGE)) return { kind: 'too-large', reason }
  if (some(PASSING)) return { kind: 'retry', reason, heavy: true }
  if (body.data && errors.every((error) => isOfPart(error, tolerateMissing))) return undefined
  return { kind: some(FORBIDDEN) ? 'forbidden' : 'failed', reason }
}

/** Reads the quota from the answer to a query that selects `rateLimit { cost remaining resetAt }`. */
export function quotaFromGraphql({ body }: HttpResponse): Quota | undefined {
  const limit = body?.data?.rateLimit
  if (typeof limit?.remaining !== 'number' || limit.limit === 0) return undefined
  return { remaining: limit.remaining, resetsAt: new Date(limit.resetAt), cost: limit.cost ?? 1 }
}

interface Connection {
  readonly nodes?: readonly RawRecord[] | null
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
  readonly totalCount?: number
}

interface GraphqlPagingOptions {
  readonly size: number
  /** The query's variables for page size and cursor; default: `$pageSize: Int!, $cursor: String`. */
  readonly sizeVariable?: string
  readonly cursorVariable?: string
  /** Finds the paged list in the data; null if its parent does not exist. */
  readonly connection: (data: RawRecord) => Connection | null | undefined
}

export function graphql(options: GraphqlPagingOptions): Paging {
  const { size, sizeVariable = 'pageSize', cursorVariable = 'cursor' } = options
  const connectionIn = ({ body }: HttpResponse) => options.connection(body.data)
  return {
    size,
    first: () => ({ size }),
    at(request, { size, cursor = null }) {
      const { query, variables } = request.body as { query: string; variables: object }
      return {
        ...request,
        body: { query, variables: { ...variables, [sizeVariable]: size, [cursorVariable]: cursor } },
      }
    },
    next({ size }, { response }) {
      const info = connectionIn(response)?.pageInfo
      return info?.hasNextPage && info.endCursor ? { size, cursor: info.endCursor } : undefined
    },
    resize: (state, size) => ({ ...state, size }),
    // A node is null if the credential may not see it.
    records: (response) => connectionIn(response)?.nodes?.filter((node) => node !== null) ?? [],
    total: (response) => connectionIn(response)?.totalCount,
  }
}
