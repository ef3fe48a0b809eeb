import { UserError } from '../../errors.ts'
import { type CheckConnection, type Fields, notThere, type Settings } from '../../plugin-kit/index.ts'

const ENDPOINT_HELP = 'Where people open Jenkins in a browser, for example https://ci.example.com/jenkins/.'

export const RIGHTS = [
  'User name and API token of an account. Create the token on the page of the account: Security, Add new token. A password also works if Jenkins allows it.',
  'The account needs Overall/Read, and Job/Read for the jobs and their folders. For stages, Jenkins needs its plugin “Pipeline: REST API”.',
]

export const connectionFields: Fields = {
  endpoint: { kind: 'url', label: 'Endpoint', help: ENDPOINT_HELP },
  username: { kind: 'string', label: 'User name' },
  password: {
    kind: 'secret',
    label: 'API token',
    help: 'Of this user. Create it in Jenkins on the page of the account, under Security.',
  },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
}

export const credentials = ({ username, password }: Settings): readonly string[] => [
  Buffer.from(`${username}:${password}`).toString('base64'),
]
export const sign = (credential: string) => ({ authorization: `Basic ${credential}` })

export const checkConnection: CheckConnection = async (settings, { open, signal }) => {
  if (/\/api(\/|$)/.test(String(settings.endpoint))) {
    throw new UserError(`The endpoint must not contain /api: leave that out. ${ENDPOINT_HELP}`, { status: 400 })
  }
  const client = open(settings)
  try {
    const { body } = await client.send({ path: 'api/json', query: { tree: '_class,nodeDescription' } }, signal)
    if (!String(body?._class).startsWith('hudson.model.')) throw notThere('Jenkins')
    return { success: true }
  } finally {
    await client.close()
  }
}
