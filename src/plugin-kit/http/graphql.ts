import type { RawRecord } from '../../database/table.ts'
import type { HttpRequest, HttpResponse, Verdict } from './http-message.ts'
import { retryAfter } from './judge.ts'
import type { Paging } from './paging.ts'
import type { Quota } from './quota.ts'

export interface GraphqlOptions {
  /** '/graphql' unless told. */
  readonly path?: string
  readonly class?: string
  /** Take what there is when some of the things asked for by name do not exist, or may not be seen. */
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
    // What was named and does not exist any more is not missing.
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
/** What the settings of the connection can mend is told, and never passed over. */
const MENDABLE = /INSUFFICIENT_SCOPES|UNAUTHORIZED/

const errorsIn = (body: RawRecord): readonly GraphqlError[] => (Array.isArray(body?.errors) ? body.errors : [])
const kindOf = ({ type, extensions }: GraphqlError): string => type ?? extensions?.code ?? ''

const isGone = (error: GraphqlError): boolean => kindOf(error) === 'NOT_FOUND'
const isInList = ({ path }: GraphqlError): boolean => path?.some((step) => typeof step === 'number') ?? false

/**
 * What decides about an error: its type; or, where the server gives none and the error is not about one node, its message
 * without what stands in quotes, which people wrote.
 */
function signOf(error: GraphqlError): string {
  if (kindOf(error) || isInList(error)) return kindOf(error)
  return (error.message ?? '').replaceAll(/'[^']*'|"[^"]*"|`[^`]*`/g, '')
}

/** An error about something inside of a list, or, where missing ones are tolerated, about one of the things named. */
const isOfPart = (error: GraphqlError, tolerateMissing: boolean): boolean =>
  !MENDABLE.test(kindOf(error)) &&
  (isInList(error) || (tolerateMissing && (error.path !== undefined || isGone(error) || isHidden(error))))
const isHidden = ({ extensions }: GraphqlError): boolean => extensions?.saml_failure === true

const problemOf = (error: GraphqlError): string => {
  const message = error.message || kindOf(error) || 'an error without a message'
  return error.path ? `${error.path.join('.')}: ${message}` : message
}

/** GraphQL answers 200 and puts its failures into a list: the gravest of them decides. */
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

/** The quota of an answer to a query that selects `rateLimit { cost remaining resetAt }`. */
export function quotaFromGraphql({ body }: HttpResponse): Quota | undefined {
  const limit = body?.data?.rateLimit
  if (typeof limit?.remaining !== 'number' || limit.limit === 0) return undefined
  return { remaining: limit.remaining, resetsAt: new Date(limit.resetAt), cost: limit.cost ?? 1 }
}

export interface Connection {
  readonly nodes?: readonly RawRecord[] | null
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
  readonly totalCount?: number
}

export interface GraphqlPagingOptions {
  readonly size: number
  /** The query's variables for page size and cursor: `$pageSize: Int!, $cursor: String` unless told. */
  readonly sizeVariable?: string
  readonly cursorVariable?: string
  /** Where the paged list is in the data; null where its parent does not exist. */
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
    // A node may be null where the reader lacks the right to see it.
    records: (response) => connectionIn(response)?.nodes?.filter((node) => node !== null) ?? [],
    total: (response) => connectionIn(response)?.totalCount,
  }
}
