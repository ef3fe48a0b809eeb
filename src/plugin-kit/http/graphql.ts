import type { HttpRequest, HttpResponse, Verdict } from './http-message.ts'
import type { Paging } from './paging.ts'
import type { Quota } from './quota.ts'

export interface GraphqlOptions {
  /** '/graphql' unless told. */
  readonly path?: string
  readonly class?: string
  /** Take what there is when some of the nodes asked for do not exist, or are behind an organisation's single sign-on. */
  readonly tolerateNotFound?: boolean
}

export function graphqlRequest(
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
  { path = '/graphql', class: className = 'graphql', tolerateNotFound = false }: GraphqlOptions = {},
): HttpRequest {
  return {
    method: 'POST',
    path,
    class: className,
    body: { query, variables },
    check: (response) => graphqlVerdict(response, tolerateNotFound),
  }
}

interface GraphqlError {
  readonly type?: string
  readonly message?: string
  readonly extensions?: { readonly code?: string; readonly saml_failure?: boolean }
}

const LIMITED = /^RATE_?LIMIT/
const TOO_LARGE = /MAX_NODE_LIMIT|RESOURCE_LIMITS|node limit|too many nodes|resource limits|complexity/i
const PASSING = /time.?out|timed out|something went wrong|in time|service unavailable|temporarily/i
const NOT_FOUND = /NOT_FOUND|could not resolve to/i
const FORBIDDEN = /FORBIDDEN|INSUFFICIENT_SCOPES|UNAUTHORIZED/

/** GraphQL answers 200 and puts its failures into a list: the gravest of them decides. */
function graphqlVerdict({ body }: HttpResponse, tolerateNotFound: boolean): Verdict | undefined {
  const errors: readonly GraphqlError[] = Array.isArray(body?.errors) ? body.errors : []
  if (errors.length === 0) {
    return body?.data ? undefined : { kind: 'retry', reason: 'a GraphQL answer without data', heavy: true }
  }
  const reason = [...new Set(errors.map(({ message, type }) => message || type || 'an error without a message'))].join(
    '; ',
  )
  const kindOf = (error: GraphqlError) => error.type ?? error.extensions?.code ?? ''
  const some = (pattern: RegExp) =>
    errors.some((error) => pattern.test(kindOf(error)) || pattern.test(error.message ?? ''))
  if (errors.some((error) => LIMITED.test(kindOf(error)))) {
    const resetAt = Date.parse(body.data?.rateLimit?.resetAt ?? '')
    return { kind: 'limited', reason, ofClass: true, ...(!Number.isNaN(resetAt) && { until: new Date(resetAt) }) }
  }
  if (some(TOO_LARGE)) return { kind: 'too-large', reason }
  if (some(PASSING)) return { kind: 'retry', reason, heavy: true }
  const isOutOfReach = (error: GraphqlError) =>
    error.extensions?.saml_failure || NOT_FOUND.test(kindOf(error)) || NOT_FOUND.test(error.message ?? '')
  if (tolerateNotFound && body.data && errors.every(isOutOfReach)) return undefined
  return { kind: some(FORBIDDEN) ? 'forbidden' : 'failed', reason }
}

/** The quota of an answer to a query that selects `rateLimit { cost remaining resetAt }`. */
export function quotaFromGraphql({ body }: HttpResponse): Quota | undefined {
  const limit = body?.data?.rateLimit
  if (typeof limit?.remaining !== 'number' || limit.limit === 0) return undefined
  return { remaining: limit.remaining, resetsAt: new Date(limit.resetAt), cost: limit.cost ?? 1 }
}

export interface Connection {
  readonly nodes?: readonly any[] | null
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor?: string | null }
  readonly totalCount?: number
}

export interface GraphqlPagingOptions {
  readonly size: number
  /** The query's variables for page size and cursor: `$pageSize: Int!, $cursor: String` unless told. */
  readonly sizeVariable?: string
  readonly cursorVariable?: string
  /** Where the paged list is in the data; null where its parent does not exist. */
  readonly connection: (data: any) => Connection | null | undefined
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
