import { type CheckConnection, type Fields, notThere } from '../../plugin-kit/index.ts'

const ENDPOINT_HELP = 'For example https://argocd.example.com/api/v1/.'

export const RIGHTS = [
  'Token of a local account with the capability apiKey (argocd account generate-token), or of a role of a project (argocd proj role create-token).',
  'The account needs the right get for the applications, such as p, ACCOUNT, applications, get, shop/*, allow for all of the project shop.',
  'With the right get for clusters, environments have the names of clusters instead of their addresses: p, ACCOUNT, clusters, get, *, allow.',
]

export const connectionFields: Fields = {
  endpoint: { kind: 'url', label: 'Endpoint', help: ENDPOINT_HELP },
  token: { kind: 'secret', label: 'Token' },
  proxy: { kind: 'url', label: 'Proxy', isOptional: true },
  rateLimitPerHour: { kind: 'integer', label: 'Requests per hour', isOptional: true },
}

export const checkConnection: CheckConnection = async (settings, { open, signal }) => {
  const client = open(settings)
  try {
    const { body: user } = await client.send({ path: 'session/userinfo' }, signal)
    if (typeof user?.loggedIn !== 'boolean' && typeof user?.username !== 'string') throw notThere('Argo CD')
    if (user.loggedIn === false) {
      return { success: false, message: 'Argo CD does not accept the token: it may have expired. Create a new one.' }
    }
    const account = user.username || 'ACCOUNT'
    const query = { fields: 'items.metadata.name' }
    const { body, status } = await client.send({ path: 'applications', query, accept: [403] }, signal)
    if (status !== 403 && !isList(body)) throw notThere('Argo CD')
    if (status === 403 || !body.items?.length) {
      const rule = `p, ${account}, applications, get, */*, allow`
      return { success: false, message: `The account ${account} sees no application: grant the right get (${rule}).` }
    }
    const { body: listed, status: answered } = await client.send({ path: 'clusters', accept: [403] }, signal)
    if (answered !== 403 && listed?.items?.length) return { success: true }
    const rule = `p, ${account}, clusters, get, *, allow`
    const message = `The account ${account} sees no cluster, so environments have addresses instead of names: grant the right get (${rule}).`
    return { success: true, message }
  } finally {
    await client.close()
  }
}

/** Tells whether the answer is a list. An empty list has null for its items. */
const isList = (body: { readonly items?: unknown } | null | undefined): boolean =>
  typeof body === 'object' && body !== null && (Array.isArray(body.items) || body.items === null)
