/** A project of the small organisation, made over the API as any client would. */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect } from 'vitest'
import type { LiveServer } from '../../api/support/live-server.ts'
import { DEFAULT_TOKEN, type FakeGithub } from '../../fake-github/fake-github.ts'

export interface Shop {
  readonly connectionId: number
  readonly scopeConfigId: number
  readonly scopeId: string
  readonly blueprintId: number
}

type Server = Pick<LiveServer, 'ask'>

export async function ask(server: Server, method: string, path: string, body?: unknown): Promise<any> {
  const answer = await server.ask(method, path, body)
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`)
  return answer.body
}

const FOUR_KEYS = [{ pluginName: 'dora', pluginOption: {}, enable: true }]

/** Makes the project with these rules. Nothing is collected yet. */
export async function makeShop(
  server: Server,
  github: FakeGithub,
  name = 'shop',
  rules = {},
  metrics: readonly object[] = FOUR_KEYS,
): Promise<Shop> {
  const { id: connectionId } = await ask(server, 'POST', '/plugins/github/connections', {
    name: `${name} github`,
    endpoint: `${github.url}/`,
    authMethod: 'AccessToken',
    token: DEFAULT_TOKEN,
    enableGraphql: false,
  })
  const at = `/plugins/github/connections/${connectionId}`
  const { id: scopeConfigId } = await ask(server, 'POST', `${at}/scope-configs`, {
    name: `${name} rules`,
    envNamePattern: '(?i)prod(.*)',
    issueTypeIncident: 'incident',
    ...rules,
  })
  const { children } = await ask(server, 'GET', `${at}/remote-scopes?groupId=acme`)
  const data = children.map((child: any) => ({ ...child.data, scopeConfigId }))
  const [scope] = await ask(server, 'PUT', `${at}/scopes`, { data })
  const { blueprint } = await ask(server, 'POST', '/projects', { name, description: 'What acme sells.', metrics })
  const scopeId = String(scope.githubId)
  const connections = [{ pluginName: 'github', connectionId, scopes: [{ scopeId }] }]
  await ask(server, 'PATCH', `/blueprints/${blueprint.id}`, { connections })
  return { connectionId, scopeConfigId, scopeId, blueprintId: blueprint.id }
}

/** Runs a blueprint to its end. */
export async function collect(server: Server, blueprintId: number): Promise<void> {
  const { id } = await ask(server, 'POST', `/blueprints/${blueprintId}/trigger`, {})
  for (;;) {
    const { status, message } = await ask(server, 'GET', `/pipelines/${id}`)
    if (['TASK_COMPLETED', 'TASK_PARTIAL', 'TASK_FAILED', 'TASK_CANCELLED'].includes(status)) {
      expect(status, message).toBe('TASK_COMPLETED')
      return
    }
    await sleep(100)
  }
}
