/** Signs requests to Bitbucket, and tests a token. */
import type { RawRecord } from '../../database/table.ts'
import { type ApiClient, type CheckConnection, notThere, type Settings } from '../../plugin-kit/index.ts'
import { workspacesOf } from './remote-scopes.ts'

export const credentials = ({ username, password }: Settings): readonly string[] => [
  Buffer.from(`${username}:${password}`).toString('base64'),
]
export const sign = (credential: string) => ({ authorization: `Basic ${credential}` })

/** https://support.atlassian.com/bitbucket-cloud/docs/using-api-tokens/ */
export const cloneUser = ({ usesApiToken, username }: Settings): string =>
  usesApiToken ? 'x-bitbucket-api-token-auth' : String(username)

const APP_PASSWORD_NOTE = 'Bitbucket has stopped app passwords on 9 June 2026: create an API token.'

/** The right that each kind of record needs, in case an answer of Bitbucket does not name it. */
const PROBES = [
  { path: 'pullrequests', right: 'read:pullrequest:bitbucket', isThere: () => true },
  { path: 'pipelines/', right: 'read:pipeline:bitbucket', isThere: () => true },
  { path: 'issues', right: 'read:issue:bitbucket', isThere: ({ has_issues }: RawRecord) => has_issues === true },
]

/** Returns the rights that an answer names as missing, and none if the answer is not a refusal. */
const missingIn = ({ status, body }: { status: number; body: RawRecord }, fallback: string): string[] => {
  if (status !== 403) return []
  const { required = [], granted = [] } = body?.error?.detail ?? {}
  const missing = [required].flat().filter((right) => ![granted].flat().includes(right))
  return missing.length > 0 ? missing : [fallback]
}

/** Tests one repository, because a token has the same rights in all of them. */
async function missingRights(client: ApiClient, signal: AbortSignal): Promise<readonly string[]> {
  const ask = (path: string) => client.send({ path, query: { pagelen: 1 }, accept: [403, 404] }, signal)
  const workspaces = await workspacesOf({ client, signal }, {})
  if (workspaces.refusal) return missingIn(workspaces.refusal, 'read:workspace:bitbucket')
  for (const { slug } of workspaces.list) {
    const answer = await ask(`repositories/${slug}`)
    const missing = missingIn(answer, 'read:repository:bitbucket')
    if (missing.length > 0) return missing
    const [repo] = answer.body?.values ?? []
    if (!repo) continue
    const wanted = PROBES.filter(({ isThere }) => isThere(repo))
    const found = await Promise.all(
      wanted.map(async ({ path, right }) => missingIn(await ask(`repositories/${repo.full_name}/${path}`), right)),
    )
    return [...new Set(found.flat())]
  }
  return []
}

export const checkConnection: CheckConnection = async (settings, { open, signal }) => {
  const client = open(settings)
  try {
    const user = await client.send({ path: 'user', accept: [403] }, signal)
    if (user.status === 200 && typeof user.body?.uuid !== 'string') throw notThere('Bitbucket')
    const missing = [...missingIn(user, 'read:user:bitbucket'), ...(await missingRights(client, signal))]
    if (missing.length > 0) {
      return {
        success: false,
        message: `The token lacks ${[...new Set(missing)].join(', ')}: create one that has these scopes too.`,
      }
    }
    const login = user.body?.nickname ?? user.body?.display_name ?? ''
    return { success: true, ...(!settings.usesApiToken && { message: APP_PASSWORD_NOTE }), details: { login } }
  } finally {
    await client.close()
  }
}
