/** Signs requests to Bitbucket Data Center, and tests a token. */
import { UserError } from '../../errors.ts'
import { type CheckConnection, notThere, type Settings } from '../../plugin-kit/index.ts'
import { ENDPOINT_HELP } from './settings.ts'

/** Tokens of projects and repositories belong to no user. */
export const credentials = ({ username, password }: Settings): readonly string[] => [
  username ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` : `Bearer ${password}`,
]
export const sign = (credential: string) => ({ authorization: credential })

/** https://confluence.atlassian.com/bitbucketserver/http-access-tokens-939515499.html */
export const cloneUser = ({ username }: Settings): string => String(username || 'x-token-auth')

const NO_REPOSITORY =
  'The credentials may read no repository: give the account or the token the permission to read the projects and repositories.'

export const checkConnection: CheckConnection = async (settings, { open, signal }) => {
  if (/\/rest(\/|$)/.test(String(settings.endpoint))) {
    throw new UserError(`The endpoint must not contain /rest: leave that out. ${ENDPOINT_HELP}`, { status: 400 })
  }
  const client = open(settings)
  try {
    const { body, headers } = await client.send({ path: 'rest/api/1.0/projects', query: { limit: 1 } }, signal)
    if (!Array.isArray(body?.values)) throw notThere('Bitbucket Data Center')
    const readable = await client.send(
      { path: 'rest/api/1.0/repos', query: { permission: 'REPO_READ', limit: 1 }, accept: [403] },
      signal,
    )
    if (readable.status === 403 || readable.body?.values?.length === 0) {
      return { success: false, message: NO_REPOSITORY }
    }
    return { success: true, details: { login: headers['x-ausername'] ?? settings.username ?? '' } }
  } finally {
    await client.close()
  }
}
