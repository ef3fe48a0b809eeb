/** Signs requests to Jira, and tests connections. */
import { UserError } from '../../errors.ts'
import {
  type ApiClient,
  type CheckConnection,
  type Fields,
  type HttpResponse,
  requireLogin,
  type Settings,
} from '../../plugin-kit/index.ts'

const ENDPOINT_HELP = 'Ends in /rest/, for example https://example.atlassian.net/rest/.'

export const RIGHTS = [
  'Cloud: BasicAuth with the e-mail address and an API token of the account (without scopes, or with `read:jira-work`, `read:jira-user`, `read:board-scope:jira-software`, `read:sprint:jira-software` and `read:epic:jira-software`).',
  'Server and Data Center: BasicAuth with user name and password, or AccessToken with a personal access token.',
  'The account needs the global permission Browse users and groups, and in the projects of the boards Browse projects. If commits come from the development panel, it also needs View development tools.',
]

export const connectionFields: Fields = {
  endpoint: { kind: 'url', label: 'Endpoint', help: ENDPOINT_HELP },
  authMethod: {
    kind: 'choice',
    label: 'Login',
    choices: ['BasicAuth', 'AccessToken'],
    default: 'BasicAuth',
    size: 20,
  },
  username: { kind: 'string', label: 'User name', help: 'On Cloud: the e-mail address.', authMethod: 'BasicAuth' },
  password: { kind: 'secret', label: 'Password', help: 'On Cloud: an API token.', authMethod: 'BasicAuth' },
  token: { kind: 'secret', label: 'Personal access token', authMethod: 'AccessToken' },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
}

const isToken = ({ authMethod }: Settings) => authMethod === 'AccessToken'

export const credentials = ({ username, password, token, ...settings }: Settings): readonly string[] =>
  isToken(settings) ? [String(token)] : [Buffer.from(`${username}:${password}`).toString('base64')]

export const sign = (credential: string, settings: Settings) => ({
  authorization: `${isToken(settings) ? 'Bearer' : 'Basic'} ${credential}`,
})

const OLDEST_VERSION = 7

export const checkConnection: CheckConnection = async (settings, { open, signal }) => {
  requireLogin(connectionFields, settings)
  const client = open(settings)
  try {
    requireVersion(await serverInfo(client, settings, signal))
    // The server tells its version to anyone, but answers this request only for somebody who is logged in.
    await client.send({ path: 'api/2/myself' }, signal)
    const boards = { path: 'agile/1.0/board', query: { maxResults: 1 } }
    if ((await client.send({ ...boards, accept: [404] }, signal)).status === 404) {
      throw new UserError('This Jira has no boards: it needs Jira Software, which is not installed.', { status: 404 })
    }
    return { success: true }
  } finally {
    await client.close()
  }
}

async function serverInfo(client: ApiClient, { endpoint }: Settings, signal: AbortSignal): Promise<HttpResponse> {
  const isRest = /\/rest\/?$/.test(endpoint)
  const hint = isRest ? 'Check the address.' : `The endpoint is wrong: ${ENDPOINT_HELP}`
  try {
    const info = await client.send({ path: 'api/2/serverInfo', accept: [404] }, signal)
    if (info.status !== 404) return info
  } catch (error) {
    // A web page of the site was returned instead of an answer of the API.
    if (isRest || !(error instanceof UserError)) throw error
    throw new UserError(`${error.message}. ${hint}`, { status: error.status, cause: error })
  }
  throw new UserError(`There is no Jira at ${endpoint}. ${hint}`, { status: 404 })
}

function requireVersion({ body: { version, versionNumbers, deploymentType } }: HttpResponse): void {
  const [major] = versionNumbers
  if (deploymentType === 'Cloud' || major >= OLDEST_VERSION) return
  throw new UserError(`Jira ${version} is too old: version ${OLDEST_VERSION} or later is needed.`)
}
