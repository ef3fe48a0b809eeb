import type { RawRecord } from '../../database/table.ts'
import { type CheckConnection, type Fields, notThere, type Settings } from '../../plugin-kit/index.ts'
import type { Server } from './kit.ts'

export const ENDPOINT = 'https://sonarcloud.io/api/'

export const RIGHTS = [
  'User token: My Account, Security, Generate Tokens, type “User Token”. Its owner needs the permission Browse for the projects. Tokens for analyses do not work.',
  'To see the e-mail addresses of people, the owner of the token must be an administrator.',
]

export const connectionFields: Fields = {
  endpoint: {
    kind: 'url',
    label: 'Endpoint',
    help: 'For example https://sonarqube.example.com/api/.',
    default: ENDPOINT,
  },
  token: { kind: 'secret', label: 'User token' },
  org: {
    kind: 'string',
    label: 'Organization',
    help: 'Only for SonarQube Cloud: the key of the organization.',
    column: 'organization',
    isOptional: true,
  },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
}

/** The token is sent as the user name, with an empty password. */
export const sign = (token: string) => ({ authorization: `Basic ${Buffer.from(`${token}:`).toString('base64')}` })

const CLOUD = /(^|\.)(sonarcloud\.io|sonarqube\.us)$/
export const isCloud = (endpoint: string): boolean => CLOUD.test(new URL(endpoint).hostname)

/** Returns the organization. DevLake stores it in quotation marks. */
export const organizationIn = ({ org }: Settings): string => String(org ?? '').replace(/^"(.*)"$/, '$1')
export const ofOrganization = (settings: Settings) => {
  const organization = organizationIn(settings)
  return organization ? { organization } : {}
}

/** From version 10.2 on: https://docs.sonarsource.com/sonarqube-server/10.2/setup-and-upgrade/release-upgrade-notes/ */
const isSince = (version: string, [major, minor]: readonly [number, number]): boolean => {
  const [own = 0, ownMinor = 0] = version.split('.').map(Number)
  return own > major || (own === major && ownMinor >= minor)
}
export async function probe(get: (path: string) => Promise<RawRecord>): Promise<Server> {
  const { version } = await get('system/status')
  return { projectParam: isSince(String(version), [10, 2]) ? 'components' : 'componentKeys' }
}

export const checkConnection: CheckConnection = async (settings, { open, signal }) => {
  const refused = (message: string) => ({ success: false, message })
  if (isCloud(String(settings.endpoint)) && !organizationIn(settings)) {
    return refused('Enter the organization: SonarQube Cloud lists projects only of one.')
  }
  const client = open(settings)
  try {
    const { body } = await client.send({ path: 'authentication/validate' }, signal)
    if (typeof body?.valid !== 'boolean') throw notThere('SonarQube')
    if (!body.valid) return refused('SonarQube does not accept the token: create a new user token.')
    const query = { ps: 1, ...ofOrganization(settings) }
    const { body: listed } = await client.send({ path: 'components/search_projects', query }, signal)
    if (typeof listed?.paging?.total !== 'number') throw notThere('SonarQube')
    if (listed.paging.total > 0) return { success: true }
    return refused('The owner of the token sees no project: grant the permission Browse, or use another token.')
  } finally {
    await client.close()
  }
}
