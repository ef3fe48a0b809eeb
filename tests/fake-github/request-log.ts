import type { FaultKind } from './faults.ts'

export interface RequestEntry {
  readonly method: string
  /** Path and query as sent. */
  readonly url: string
  /** The path in GitHub's description, such as `/repos/{owner}/{repo}/pulls`, or `/graphql`. An unknown path is kept as it is. */
  readonly template: string
  readonly token: string | undefined
  readonly status: number
  /** The number of points taken from the token's limit: 0 for 304 and server failures, more than 1 for some GraphQL queries. */
  readonly points: number
  readonly fault: FaultKind | undefined
  readonly operation: string | undefined
}
export interface RequestCounts {
  readonly requests: number
  /** The number of requests that counted against a limit. */
  readonly counted: number
  readonly notModified: number
  readonly faults: number
  readonly points: number
}

/** All requests to the fake, in the order of their answers. */
export interface RequestLog {
  readonly entries: readonly RequestEntry[]
  counts(where?: (entry: RequestEntry) => boolean): RequestCounts
  byTemplate(): Record<string, RequestCounts>
  byToken(): Record<string, RequestCounts>
  clear(): void
}

export function requestLog(entries: RequestEntry[] = []): RequestLog & { add(entry: RequestEntry): void } {
  const groupBy = (name: (entry: RequestEntry) => string): Record<string, RequestCounts> => {
    const groups = Object.groupBy(entries, name)
    return Object.fromEntries(Object.entries(groups).map(([key, group]) => [key, countsOf(group!)]))
  }
  return {
    entries,
    counts: (where = () => true) => countsOf(entries.filter(where)),
    byTemplate: () => groupBy((entry) => entry.template),
    byToken: () => groupBy((entry) => entry.token ?? 'anonymous'),
    clear: () => {
      entries.length = 0
    },
    add: (entry) => {
      entries.push(entry)
    },
  }
}

function countsOf(entries: readonly RequestEntry[]): RequestCounts {
  const count = (where: (entry: RequestEntry) => boolean): number => entries.filter(where).length
  return {
    requests: entries.length,
    counted: count((entry) => entry.points > 0),
    notModified: count((entry) => entry.status === 304),
    faults: count((entry) => entry.fault !== undefined),
    points: entries.reduce((sum, entry) => sum + entry.points, 0),
  }
}
