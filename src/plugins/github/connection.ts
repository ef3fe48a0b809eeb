/** Signs requests to GitHub, and holds its rate limits. */

import { createPrivateKey, createSign, type KeyObject } from 'node:crypto'
import type { RawRecord } from '../../database/table.ts'
import { UserError } from '../../errors.ts'
import {
  type Credential,
  createApiClient,
  quotaFromGraphql,
  quotaFromHeaders,
  type RateLimits,
  type RefreshingCredential,
  type Settings,
  wayOf,
} from '../../plugin-kit/index.ts'

export const ENDPOINT = 'https://api.github.com/'
export const headers = {
  accept: 'application/vnd.github+json',
  'x-github-api-version': '2022-11-28',
  'user-agent': 'weir',
}
export const sign = (credential: string) => ({ authorization: `Bearer ${credential}` })

const fromHeaders = quotaFromHeaders({
  remaining: 'x-ratelimit-remaining',
  reset: 'x-ratelimit-reset',
  limit: 'x-ratelimit-limit',
  class: 'x-ratelimit-resource',
})
// https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
export const limits: RateLimits = {
  quota: (response, now) => quotaFromGraphql(response) ?? fromHeaders(response, now),
  classes: { search: { requestsPerMinute: 30 } },
}

export const isApp = ({ authMethod }: Settings): boolean => authMethod === 'AppKey'

export const tokensOf = ({ token }: Settings): string[] =>
  String(token ?? '')
    .split(',')
    .flatMap((each) => each.trim() || [])

export const credentials = (settings: Settings): readonly Credential[] =>
  isApp(settings) ? [installation(settings)] : tokensOf(settings)

/** An app requests a token of its installation, which is valid for an hour, signed with its private key. */
function installation(settings: Settings): RefreshingCredential {
  const { appId, installationId } = settings
  if (!appId || !installationId)
    throw new UserError('GitHub: fill in App ID and Installation ID, or choose AccessToken')
  return {
    name: `app ${appId}, installation ${installationId}`,
    async refresh() {
      const { token, expires_at } = await asApp(settings, `/app/installations/${installationId}/access_tokens`, 'POST')
      return { value: token, expiresAt: new Date(expires_at) }
    },
  }
}

/** Sends a request as the app itself. */
export async function asApp(settings: Settings, path: string, method = 'GET'): Promise<RawRecord> {
  const client = createApiClient({
    ...wayOf(settings, { title: 'GitHub', endpoint: ENDPOINT }),
    credentials: [appToken(settings, Date.now())],
    sign,
    headers,
  })
  try {
    return (await client.send({ path, method }, AbortSignal.timeout(120_000))).body
  } finally {
    await client.close()
  }
}

const LIFE_SECONDS = 540
const CLOCK_DRIFT_SECONDS = 60

// https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
export function appToken({ appId, secretKey }: Settings, now: number): string {
  const seconds = Math.floor(now / 1000)
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
  const claims = { iat: seconds - CLOCK_DRIFT_SECONDS, exp: seconds + LIFE_SECONDS, iss: String(appId) }
  const signed = `${encode({ alg: 'RS256', typ: 'JWT' })}.${encode(claims)}`
  return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey(secretKey), 'base64url')}`
}

function privateKey(pem: unknown): KeyObject {
  try {
    // Line ends may have become \n when the key was pasted through JSON or an environment variable.
    return createPrivateKey(String(pem ?? '').replaceAll('\\n', '\n'))
  } catch (error) {
    throw new UserError('GitHub: the private key of the app is no PEM text; paste the whole .pem file', {
      cause: error,
    })
  }
}
