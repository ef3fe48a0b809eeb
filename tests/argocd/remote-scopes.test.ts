import { expect, it } from 'vitest'
import { chooseScopes } from '../../src/config-as-code/selectors.ts'
import { openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { argocd } from '../../src/plugins/argocd/plugin.ts'
import { startFakeArgocd, TOKEN } from '../fake-argocd/fake-argocd.ts'

const source = argocd.source!

async function withShop(act: (fake: Awaited<ReturnType<typeof startFakeArgocd>>, question: any) => Promise<void>) {
  const fake = await startFakeArgocd()
  const { world } = fake
  world.add('web-prod', { project: 'shop', labels: { team: 'web', tier: 'front' } })
  world.add('web-test', { project: 'shop', labels: { team: 'web' } })
  world.add('stock', { project: 'shop', labels: { team: 'back' } })
  world.add('tool', { project: 'ops' })
  world.add('tool', { project: 'ops', namespace: 'team-a' })
  world.add('loose', { project: '' })
  const settings = { endpoint: fake.endpoint, token: TOKEN }
  const client = openAwaitedClient(source, settings)
  try {
    await act(fake, { client, settings, signal: AbortSignal.timeout(60_000) })
  } finally {
    await client.close()
    await fake.stop()
  }
}

it('applications are listed by project, and found by name', () =>
  withShop(async (fake, question) => {
    const { list, search } = source.scope.remote!
    expect((await list(question)).children).toMatchObject([
      { type: 'group', id: 'default' },
      { type: 'group', id: 'ops' },
      { type: 'group', id: 'shop' },
    ])
    // Applications in Argo CD's own namespace are called by their names alone, as in DevLake.
    const { children } = await list({ ...question, group: 'ops' })
    expect(children.map(({ id, fullName, parentId }) => [id, fullName, parentId])).toEqual([
      ['team-a/tool', 'ops/team-a/tool', 'ops'],
      ['tool', 'ops/tool', 'ops'],
    ])
    expect(children[1]?.data).toMatchObject({
      name: 'tool',
      namespace: 'argocd',
      project: 'ops',
      repoUrl: 'https://git.example.com/acme/tool',
      destServer: 'https://kubernetes.default.svc',
      destNamespace: 'tool',
    })
    fake.settings.tellsNamespace = false
    expect((await list({ ...question, group: 'ops' })).children.map(({ id }) => id)).toEqual(['team-a/tool', 'tool'])
    expect((await list({ ...question, group: 'gone' })).children).toEqual([])

    const found = await search!({ ...question, search: 'WEB', page: 1, pageSize: 1 })
    expect(found).toMatchObject({ count: 2, children: [{ id: 'web-prod', parentId: null }] })
    const rest = await search!({ ...question, search: 'WEB', page: 2, pageSize: 1 })
    expect(rest.children.map(({ id }) => id)).toEqual(['web-test'])
  }))

it('asks for no more of applications than it shows', () =>
  withShop(async ({ requests }, question) => {
    await source.scope.remote!.list({ ...question, group: 'shop' })
    const [asked = ''] = requests.filter((each) => each.includes('/applications'))
    expect(asked).toContain('projects=shop')
    expect(asked).toContain('fields=items.metadata.name')
    expect(asked).not.toContain('status')
  }))

it('many are chosen by a selector: names with stars, and labels', () =>
  withShop(async (_fake, { settings }) => {
    const choose = async (scopes: readonly string[], more: object = {}) => {
      const chosen = await chooseScopes(source, settings, { scopes, except: [], archived: false, ...more })
      return chosen.map(({ name }) => name)
    }
    expect(await choose(['shop/*'])).toEqual(['stock', 'web-prod', 'web-test'])
    expect(await choose(['shop/*'], { topic: 'team=web' })).toEqual(['web-prod', 'web-test'])
    expect(await choose(['shop/*'], { except: ['*/*-test'] })).toEqual(['stock', 'web-prod'])
    expect(await choose(['**/tool'])).toEqual(['team-a/tool', 'tool'])
  }))
