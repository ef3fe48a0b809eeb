/** Connects an organisation, chooses its scopes, adds them to a project and collects them, all over the API. */
import { expect } from 'vitest'
import type { LiveServer } from '../../api/support/live-server.ts'
import { DEFAULT_TOKEN } from '../../fake-github/fake-github.ts'
import { startOrganisation } from '../../support/organisation.ts'

export interface Collected {
  readonly connectionId: number
  readonly configId: number
  readonly scopeIds: readonly string[]
}

/** Collects for one test. GitHub stops with the test, but the collected rows stay. */
export async function collectOrganisation(
  server: LiveServer,
  { project, rules }: { readonly project: string; readonly rules: object },
): Promise<Collected> {
  const github = await startOrganisation()
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await server.ask(method, path, body)
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.body
  }
  const settings = { name: `GitHub of ${project}`, endpoint: `${github.url}/`, token: DEFAULT_TOKEN }
  const { id: connectionId } = await ask('POST', '/plugins/github/connections', settings)
  const base = `/plugins/github/connections/${connectionId}`
  const { id: configId } = await ask('POST', `${base}/scope-configs`, { name: `rules of ${project}`, ...rules })
  const { children } = await ask('GET', `${base}/remote-scopes?groupId=acme`)
  const data = children.map((child: any) => ({ ...child.data, scopeConfigId: configId }))
  await ask('PUT', `${base}/scopes`, { data })
  const scopeIds = data.map(({ githubId }: any) => String(githubId))
  const { blueprint } = await ask('POST', '/projects', {
    name: project,
    blueprint: {
      connections: [{ pluginName: 'github', connectionId, scopes: scopeIds.map((scopeId: string) => ({ scopeId })) }],
    },
  })
  const { id } = await ask('POST', `/blueprints/${blueprint.id}/trigger`, {})
  await expect
    .poll(async () => (await ask('GET', `/pipelines/${id}`)).status, { timeout: 120_000, interval: 500 })
    .toBe('TASK_COMPLETED')
  return { connectionId, configId, scopeIds }
}
