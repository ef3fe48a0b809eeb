import type { Change } from './world/changes.ts'
import { dice } from './world/dice.ts'

export const FAULT_KINDS = [
  'too-many-requests', // 429 with Retry-After
  'bad-gateway', // 502 with an HTML body, as GitHub's front servers send
  'secondary-limit', // 403 with Retry-After
  'slow',
  'cut-off', // the connection is closed in the middle of the body
  'malformed-json',
  'gone', // 410, or 404
  'changed-totals', // records come and go right after this page was served
  'revoked-token', // the request's token stops working, from this request on
  'graphql-timeout',
  'too-many-nodes',
  'lost-node', // GraphQL: one node of the list is null, and an error reports it
  'lost-part', // GraphQL: a field of one node is null, and an error reports it
] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

export interface FaultDetails {
  /** Only requests whose path and query contain this text. */
  readonly path?: string
  readonly times?: number
  /** The `Retry-After` header of limits. */
  readonly retryAfterSeconds?: number
  /**
   * For `bad-gateway` (any 5xx), `gone` (410 or 404), `graphql-timeout` (GitHub sends 502, at times 200) and
   * `secondary-limit` (403, for GraphQL also 200).
   */
  readonly status?: number
  /** For `lost-node` and `lost-part`: the error's type, whether single sign-on is the reason, and the field. */
  readonly type?: string
  readonly saml?: boolean
  readonly field?: string
  /** For GraphQL queries: only those with this name. */
  readonly operation?: string
  /** For `slow`. */
  readonly delayMilliseconds?: number
  /** For `changed-totals`. By default a new record of the kind that the page lists. */
  readonly changes?: readonly Change[]
}
export interface Fault extends FaultDetails {
  readonly kind: FaultKind
}
export interface FaultPlan extends FaultDetails {
  /** One request out of this many fails, in a way chosen by the world's seed. */
  readonly every: number
  /** `changed-totals` is excluded, because changes of the world must be scripted so that a test knows what to expect. */
  readonly kinds: readonly Exclude<FaultKind, 'changed-totals'>[]
}

export interface Faults {
  failNext(kind: FaultKind, details?: FaultDetails): void
  /** The number of requested faults that have not been used yet. */
  readonly waiting: number
  /** Returns the fault for this request, if any. */
  strike(path: string, isGraphql: boolean, body?: string): Fault | undefined
}

const GRAPHQL_ONLY: readonly FaultKind[] = ['graphql-timeout', 'too-many-nodes', 'lost-node', 'lost-part']

export function faults(plan: FaultPlan | undefined, seed: number): Faults {
  const luck = dice(seed)
  const queue: { fault: Fault; left: number }[] = []
  let requests = 0
  const applies = (fault: FaultDetails & { kind?: FaultKind }, path: string, isGraphql: boolean, body = ''): boolean =>
    (fault.path === undefined || path.includes(fault.path)) &&
    (fault.operation === undefined || body.includes(`query ${fault.operation}(`)) &&
    (isGraphql || fault.kind === undefined || !GRAPHQL_ONLY.includes(fault.kind))
  return {
    failNext(kind, details = {}) {
      queue.push({ fault: { kind, ...details }, left: details.times ?? 1 })
    },
    get waiting() {
      return queue.length
    },
    strike(path, isGraphql, body) {
      const scripted = queue.find(({ fault }) => applies(fault, path, isGraphql, body))
      if (scripted !== undefined) {
        scripted.left--
        if (scripted.left <= 0) queue.splice(queue.indexOf(scripted), 1)
        return scripted.fault
      }
      if (plan === undefined || !applies(plan, path, isGraphql, body)) return undefined
      requests++
      if (requests % plan.every !== 0) return undefined
      const kinds = plan.kinds.filter((kind) => isGraphql || !GRAPHQL_ONLY.includes(kind))
      return kinds.length === 0 ? undefined : { ...plan, kind: luck.pick('fault', kinds, requests) }
    },
  }
}
