import { type CheckConnection, type Fields, notThere, type Settings } from '../../plugin-kit/index.ts'

const ENDPOINT_HELP = 'For example https://bamboo.example.com/rest/api/latest/.'

export const RIGHTS = [
  'User name and password of an account, or a personal access token without a user name. Create a token on the page of the account: Personal access tokens, with the permission Read.',
  'The account needs the permission View for the plans, their deployment projects and their environments.',
]

export const connectionFields: Fields = {
  endpoint: { kind: 'url', label: 'Endpoint', help: ENDPOINT_HELP },
  username: {
    kind: 'string',
    label: 'User name',
    help: 'Leave it empty if you use a personal access token.',
    isOptional: true,
  },
  password: { kind: 'secret', label: 'Password or personal access token' },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
}

export const credentials = ({ username, password }: Settings): readonly string[] => [
  username ? `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` : `Bearer ${password}`,
]
export const sign = (credential: string) => ({ authorization: credential, accept: 'application/json' })

export const checkConnection: CheckConnection = async (settings, { open, signal }) => {
  const client = open(settings)
  try {
    const { body: info } = await client.send({ path: 'info.json' }, signal)
    if (typeof info?.version !== 'string' || info?.buildNumber === undefined) throw notThere('Bamboo')
    const { body } = await client.send({ path: 'plan.json', query: { 'max-results': 1 } }, signal)
    if (typeof body?.plans?.size !== 'number') throw notThere('Bamboo')
    if (body.plans.size > 0) return { success: true }
    return {
      success: false,
      message: 'The account sees no plan: give it the permission View for the plans, or use another account.',
    }
  } finally {
    await client.close()
  }
}
