/** A project that collects one repository of a fake GitHub soon: nothing is cloned. */
import type { LiveServer } from '../../api/support/live-server.ts'
import { DEFAULT_TOKEN, type FakeGithub } from '../../fake-github/fake-github.ts'
import { ask as askServer } from './shop.ts'

export interface QuickShop {
  readonly connectionId: number
  readonly blueprintId: number
  readonly scopeId: string
  /** Starts a run, and gives its number. */
  run(): Promise<number>
}

export async function createQuickShop(server: LiveServer, github: FakeGithub, name = 'shop'): Promise<QuickShop> {
  const ask = (method: string, path: string, body?: unknown) => askServer(server, method, path, body)
  const settings = { endpoint: `${github.url}/`, token: DEFAULT_TOKEN, authMethod: 'AccessToken', enableGraphql: false }
  const { id: connectionId } = await ask('POST', '/plugins/github/connections', { name, ...settings })
  const base = `/plugins/github/connections/${connectionId}`
  const { children } = await ask('GET', `${base}/remote-scopes?groupId=acme`)
  const [{ data: repository }] = children.filter(({ type }: { type: string }) => type === 'scope')
  // Its history is not what these tests are about: without an address nothing is cloned.
  const { id: scopeConfigId } = await ask('POST', `${base}/scope-configs`, {
    name,
    entities: ['CODEREVIEW', 'TICKET', 'CICD'],
  })
  await ask('PUT', `${base}/scopes`, { data: [{ ...repository, scopeConfigId }] })
  const scopeId = String(repository.githubId)
  const connections = [{ pluginName: 'github', connectionId, scopes: [{ scopeId }] }]
  const blueprint = { isManual: true, connections, timeAfter: '2015-01-01T00:00:00Z' }
  const project = await ask('POST', '/projects', { name, blueprint })
  const blueprintId: number = project.blueprint.id
  return {
    connectionId,
    blueprintId,
    scopeId,
    run: async () => (await ask('POST', `/blueprints/${blueprintId}/trigger`)).id,
  }
}
