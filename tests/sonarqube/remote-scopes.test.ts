import { expect, it } from 'vitest'
import { openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { sonarqube } from '../../src/plugins/sonarqube/plugin.ts'
import { startFakeSonarqube, TOKEN } from '../fake-sonarqube/fake-sonarqube.ts'

it('projects are listed through all pages, and found by name', async () => {
  const fake = await startFakeSonarqube()
  for (let number = 0; number < 101; number++) fake.addProject(`project-${number}`, `Project "${number}"`)
  const settings = { endpoint: fake.endpoint, token: TOKEN, org: '"acme"' }
  const client = openAwaitedClient(sonarqube.source!, settings)
  const question = { client, settings, signal: AbortSignal.timeout(60_000) }
  const { list, search } = sonarqube.source!.scope.remote!
  try {
    const first = await list(question)
    const second = await list({ ...question, page: first.next as object })
    expect([first.children.length, second.children.map(({ id }) => id)]).toEqual([100, ['project-100']])
    expect(second.next).toBeUndefined()
    expect(fake.requests.every((address) => address.includes('organization=acme'))).toBe(true)
    const found = await search!({ ...question, search: 'project-"42', page: 1, pageSize: 20 })
    expect(found).toMatchObject({ count: 1, children: [{ id: 'project-42', data: { projectKey: 'project-42' } }] })
  } finally {
    await client.close()
    await fake.stop()
  }
})
