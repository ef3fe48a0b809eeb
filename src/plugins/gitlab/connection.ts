/** The rate limits of GitLab, and the test of a token. */
import {
  type CheckQuestion,
  type ConnectionCheck,
  notThere,
  quotaFromHeaders,
  type RateLimits,
  type Settings,
} from '../../plugin-kit/index.ts'

export const ENDPOINT = 'https://gitlab.com/api/v4/'

// https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/#response-headers
export const limits: RateLimits = {
  quota: quotaFromHeaders({ remaining: 'ratelimit-remaining', reset: 'ratelimit-reset', limit: 'ratelimit-limit' }),
}

/** The scopes that a token needs, each with wider ones that include it: https://docs.gitlab.com/security/tokens/access_token_scopes/ */
const NEEDED: readonly (readonly string[])[] = [
  ['read_api', 'api'],
  ['read_repository', 'write_repository', 'api'],
]

/** Answers that do not say what the token may do: for an OAuth token, or from a server older than 15.5. */
const SILENT = [400, 403, 404, 405]

export async function checkConnection(settings: Settings, { open, signal }: CheckQuestion): Promise<ConnectionCheck> {
  const client = open(settings)
  try {
    // Every token may request its own data, whatever its scopes are.
    const self = await client.send({ path: '/personal_access_tokens/self', accept: SILENT }, signal)
    const granted: unknown = self.status === 200 ? self.body?.scopes : undefined
    const missing = Array.isArray(granted)
      ? NEEDED.filter((names) => !names.some((name) => granted.includes(name))).map(([name]) => name)
      : []
    if (missing.length > 0) {
      return { success: false, message: `The token lacks ${missing.join(', ')}: make one with these scopes.` }
    }
    const { body: user } = await client.send({ path: '/user' }, signal)
    if (typeof user?.username !== 'string') throw notThere('GitLab')
    await client.send({ path: '/projects', query: { per_page: 1, membership: true } }, signal)
    return { success: true, details: { login: user.username } }
  } finally {
    await client.close()
  }
}
