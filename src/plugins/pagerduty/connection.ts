import {
  type CheckQuestion,
  type ConnectionCheck,
  type Fields,
  notThere,
  quotaFromHeaders,
  type RateLimits,
  type Settings,
} from '../../plugin-kit/index.ts'

export const ENDPOINT = 'https://api.pagerduty.com/'
export const HEADERS = { Accept: 'application/vnd.pagerduty+json;version=2' }

export const RIGHTS = [
  'API access key: a read-only one is enough. Integrations, Developer Tools, API Access Keys; it needs an admin.',
  'User token (My Profile, User Settings): it sees what its owner sees, so the owner must see the services and their incidents.',
]

export const connectionFields: Fields = {
  endpoint: {
    kind: 'url',
    label: 'Endpoint',
    help: 'https://api.pagerduty.com/, or https://api.eu.pagerduty.com/ for accounts in the EU.',
    default: ENDPOINT,
  },
  token: { kind: 'secret', label: 'API access key', help: 'A read-only key is enough.' },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: {
    kind: 'integer',
    label: 'Requests per hour',
    help: 'Leave empty to use what PagerDuty grants.',
    isOptional: true,
  },
}

// https://developer.pagerduty.com/docs/rest-api-rate-limits
export const limits: RateLimits = {
  quota: quotaFromHeaders({ remaining: 'ratelimit-remaining', reset: 'ratelimit-reset', resetIs: 'seconds' }),
}

/** The lists to collect. Each is requested once, so that the answer can say which of them the key may not read. */
const NEEDED = ['services', 'incidents']
const REFUSED = [402, 403]

export async function checkConnection(settings: Settings, { open, signal }: CheckQuestion): Promise<ConnectionCheck> {
  const client = open(settings)
  try {
    const missing: string[] = []
    for (const path of NEEDED) {
      const { status, body } = await client.send({ path, query: { limit: 1 }, accept: REFUSED }, signal)
      if (REFUSED.includes(status)) missing.push(path)
      else if (!Array.isArray(body?.[path])) throw notThere('PagerDuty')
    }
    if (missing.length === 0) return { success: true }
    const message = `The key may not read ${missing.join(' and ')}: use one that may, such as a read-only API access key.`
    return { success: false, message }
  } finally {
    await client.close()
  }
}
