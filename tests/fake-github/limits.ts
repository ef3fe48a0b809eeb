import type { Clock } from './clock.ts'

export type Resource = 'core' | 'graphql' | 'search'
export type Limits = Readonly<Record<Resource, number>>
export const DEFAULT_LIMITS: Limits = { core: 5000, graphql: 5000, search: 30 }
export const ANONYMOUS_LIMITS: Limits = { core: 60, graphql: 0, search: 10 }

export interface Quota {
  readonly resource: Resource
  readonly limit: number
  readonly used: number
  readonly remaining: number
  /** Seconds since 1970. */
  readonly reset: number
}

/** Counts how much of each resource an account uses, in windows that begin with the account's first request. */
export interface Meter {
  quota(account: string, resource: Resource, limits: Limits): Quota
  charge(account: string, resource: Resource, limits: Limits, points: number): Quota
}

export function meter(clock: Clock, windowSeconds: number): Meter {
  const windows = new Map<string, { used: number; reset: number }>()
  const windowOf = (account: string, resource: Resource) => {
    const key = `${resource} ${account}`
    const now = Math.floor(clock.now() / 1000)
    let current = windows.get(key)
    if (current === undefined || current.reset <= now) {
      // GitHub counts searches per minute.
      current = { used: 0, reset: now + (resource === 'search' ? Math.min(60, windowSeconds) : windowSeconds) }
      windows.set(key, current)
    }
    return current
  }
  const quota: Meter['quota'] = (account, resource, limits) => {
    const { used, reset } = windowOf(account, resource)
    const limit = limits[resource]
    return { resource, limit, used, remaining: Math.max(0, limit - used), reset }
  }
  return {
    quota,
    charge: (account, resource, limits, points) => {
      windowOf(account, resource).used += points
      return quota(account, resource, limits)
    },
  }
}

export const quotaHeaders = (quota: Quota): Record<string, string> => ({
  'x-ratelimit-limit': String(quota.limit),
  'x-ratelimit-remaining': String(quota.remaining),
  'x-ratelimit-used': String(quota.used),
  'x-ratelimit-reset': String(quota.reset),
  'x-ratelimit-resource': quota.resource,
})
