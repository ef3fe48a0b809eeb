import {
  type CheckQuestion,
  type ConnectionCheck,
  type Fields,
  notThere,
  type Settings,
} from '../../plugin-kit/index.ts'

export const ENDPOINT = 'https://api.opsgenie.com/'

export const RIGHTS = [
  'API key of an API integration, or of API key management: *Read* and *Configuration access*. The incident API belongs to the plans Standard and Enterprise.',
  'Incidents of Jira Service Management, which replaces Opsgenie, are issues of Jira: add a Jira connection, and the board or project of the incidents. Its issue type "[System] Incident" counts as incident without further rules.',
]

export const connectionFields: Fields = {
  endpoint: {
    kind: 'url',
    label: 'Endpoint',
    help: 'https://api.opsgenie.com/, or https://api.eu.opsgenie.com/ for accounts in the EU.',
    default: ENDPOINT,
  },
  token: { kind: 'secret', label: 'API key', help: 'It needs the rights Read and Configuration access.' },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
}

/** The lists to collect and the right that each needs. They are requested one by one, so that the answer names what is missing. */
const NEEDED: readonly (readonly [path: string, right: string])[] = [
  ['v1/services', 'Read and Configuration access (services)'],
  ['v1/incidents', 'Read (incidents, of the plans Standard and Enterprise)'],
  ['v2/users', 'Configuration access (users)'],
  ['v2/teams', 'Configuration access (teams)'],
]
const REFUSED = [402, 403, 422]

export async function checkConnection(settings: Settings, { open, signal }: CheckQuestion): Promise<ConnectionCheck> {
  const client = open(settings)
  try {
    const missing: string[] = []
    for (const [path, right] of NEEDED) {
      const { status, body } = await client.send({ path, query: { limit: 1 }, accept: REFUSED }, signal)
      if (REFUSED.includes(status)) missing.push(right)
      else if (!Array.isArray(body?.data)) throw notThere('Opsgenie')
    }
    if (missing.length === 0) return { success: true }
    return { success: false, message: `The API key lacks: ${missing.join('; ')}. Give it these rights.` }
  } finally {
    await client.close()
  }
}
