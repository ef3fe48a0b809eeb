import type { Clock } from '../clock.ts'
import type { Operation } from '../contract.ts'
import type { Quota, Resource } from '../limits.ts'
import type { Bearer } from '../tokens.ts'
import type { Place } from '../world/collection.ts'
import { timestamp } from '../world/ground.ts'
import type { Repository } from '../world/repository.ts'
import type { World } from '../world/world.ts'

/** A request that passed the checks of contract, authentication and limits. */
export interface RestRequest {
  readonly operation: Operation
  readonly parameters: Readonly<Record<string, string>>
  readonly query: URLSearchParams
  /** The base address of the API, without a slash at the end. */
  readonly api: string
  /** The path as sent, but with the repository by id, as in GitHub's `Link` headers. */
  readonly canonicalPath: string
  readonly world: World
  readonly bearer: Bearer | undefined
  /** Requested by a media type. */
  readonly wantsHtml: boolean
  readonly clock: Clock
  readonly pagingCap: number
  readonly quota: (resource: Resource) => Quota
}
export interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** In RFC 3339. Single records have it on GitHub, lists do not. */
  readonly lastModified?: string
}
/** A request in a repository that exists. */
export interface RepositoryRequest extends RestRequest {
  readonly repository: Repository
}

export const ok = (body: unknown, lastModified?: string): Answer =>
  lastModified === undefined ? { status: 200, body } : { status: 200, body, lastModified }

export const refusal = (status: number, message: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status) },
  headers,
})
export const notFound = (): Answer => refusal(404, 'Not Found')

interface PageLimits {
  /** The largest number of results that are served. */
  readonly cap?: number
}

/** Returns one page of a list, with GitHub's `Link` header. */
export function page<T>(
  request: RestRequest,
  items: readonly T[],
  wrap: (page: T[], total: number) => unknown,
  { cap = items.length }: PageLimits = {},
): Answer {
  const size = Number(request.query.get('per_page') ?? 30)
  const number = Number(request.query.get('page') ?? 1)
  const reachable = Math.min(items.length, cap)
  const last = Math.max(1, Math.ceil(reachable / size))
  const slice = items.slice((number - 1) * size, Math.min(number * size, reachable))
  const to = (target: number, relation: string): string => {
    const query = new URLSearchParams(request.query)
    query.set('page', String(target))
    return `<${request.api}${request.canonicalPath}?${query}>; rel="${relation}"`
  }
  const links = [
    ...(number > 1 ? [to(Math.min(number - 1, last), 'prev')] : []),
    ...(number < last ? [to(number + 1, 'next'), to(last, 'last')] : []),
    ...(number > 1 ? [to(1, 'first')] : []),
  ]
  const answer = ok(wrap(slice, items.length))
  return links.length === 0 ? answer : { ...answer, headers: { link: links.join(', ') } }
}

/** Returns one page of records, or refuses it beyond the paging cap. */
export function pageOf<T>(
  request: RestRequest,
  get: (index: number) => T | undefined,
  places: readonly Place[],
  shape: (item: T) => unknown,
): Answer {
  if (Number(request.query.get('page') ?? 1) * Number(request.query.get('per_page') ?? 30) > request.pagingCap)
    return refusal(
      422,
      'In order to keep the API fast for everyone, pagination is limited for this resource. Check the rel=last link relation in the Link response header to see how far back you can traverse.',
    )
  return page(request, places, (slice) => slice.map((place) => shape(get(place.index)!)), { cap: request.pagingCap })
}

/** Reads a time from the query, rounded up to whole seconds as in GitHub. */
export function timeOf(request: RestRequest, name: string): string | undefined {
  const value = request.query.get(name)
  return value === null ? undefined : timestamp(Math.ceil(Date.parse(value) / 1000) * 1000)
}

/** The handler of one operation. */
export interface Route<R = RestRequest> {
  /** Query parameters that have an effect besides `page` and `per_page`. Others are reported, not ignored. */
  readonly honours?: readonly string[]
  readonly answer: (request: R) => Answer
}
export type Routes<R = RestRequest> = Readonly<Record<string, Route<R>>>
