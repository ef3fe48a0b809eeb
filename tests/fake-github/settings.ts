import type { FaultPlan } from './faults.ts'
import { type AppOptions, DEFAULT_TOKEN, type TokenOptions } from './tokens.ts'
import type { WorldOptions } from './world/settings.ts'

export interface FakeGithubSettings {
  /** The time that every answer takes. */
  readonly latencyMilliseconds: number
  readonly tokens: readonly (string | TokenOptions)[]
  readonly app: AppOptions | undefined
  /** The duration of a primary limit's window. */
  readonly windowSeconds: number
  /** The status of answers beyond a primary limit. GitHub uses both. */
  readonly limitStatus: 403 | 429
  /** More simultaneous requests than this hit the secondary limit. */
  readonly maximumConcurrency: number
  /** Lists end after this many records with status 422. */
  readonly pagingCap: number
  /** GraphQL queries for more nodes than this time out. */
  readonly graphqlTimeoutNodes: number
  /** Whether ETags differ between tokens, as `Vary: Authorization` allows. */
  readonly etagPerToken: boolean
  readonly faults: FaultPlan | undefined
}
/** Plain data, so that it can be passed to a child process. */
export type FakeGithubOptions = Partial<FakeGithubSettings> & { readonly world?: WorldOptions }

export function fakeGithubSettings(options: FakeGithubOptions): FakeGithubSettings {
  return {
    latencyMilliseconds: options.latencyMilliseconds ?? 0,
    tokens: options.tokens ?? [DEFAULT_TOKEN],
    app: options.app,
    windowSeconds: options.windowSeconds ?? 3600,
    limitStatus: options.limitStatus ?? 403,
    maximumConcurrency: options.maximumConcurrency ?? 100,
    pagingCap: options.pagingCap ?? 40_000,
    graphqlTimeoutNodes: options.graphqlTimeoutNodes ?? Number.POSITIVE_INFINITY,
    etagPerToken: options.etagPerToken ?? false,
    faults: options.faults,
  }
}
