/** Scopes that both kinds of Bitbucket offer for collection, and the results of connection tests. */
import { afterEach, expect, it } from 'vitest'
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import type { Plugin, PluginSpec } from '../../src/plugin-kit/spec/plugin.ts'
import { openAwaitedClient } from '../../src/plugin-kit/task/connection.ts'
import { bitbucket } from '../../src/plugins/bitbucket/plugin.ts'
import { bitbucketServer } from '../../src/plugins/bitbucket-server/plugin.ts'
import { LOGIN, startFakeCloud } from '../fake-bitbucket/cloud.ts'
import { startFakeDataCenter, TOKEN } from '../fake-bitbucket/data-center.ts'
import type { FakeShell } from '../fake-bitbucket/http.ts'

let running: FakeShell | undefined
afterEach(async () => {
  const { violations = [] } = running ?? {}
  await running?.stop()
  expect(violations).toEqual([])
})
async function started<Fake extends FakeShell>(fake: Promise<Fake>): Promise<Fake> {
  const one = await fake
  running = one
  return one
}
const specOf = ({ source }: Plugin) => source as PluginSpec
const signal = new AbortController().signal
const check = (plugin: Plugin, settings: Record<string, unknown>) =>
  testConnection(specOf(plugin), settings, { mask: () => ({}) }, { isSaved: false, signal })

function remoteOf(plugin: Plugin, settings: Record<string, unknown>) {
  const { scope } = specOf(plugin)
  const client = openAwaitedClient(specOf(plugin), settings)
  const question = { client, settings, signal }
  return {
    list: (more: object = {}) => scope.remote!.list({ ...question, ...more }),
    search: (search: string) => scope.remote!.search!({ ...question, search, page: 1, pageSize: 10 }),
    close: () => client.close(),
  }
}

it('lists and finds repositories of Bitbucket Cloud through all pages, also without the lists that go', async () => {
  const many = Array.from({ length: 101 }, (_, index) => `acme/repo-${String(index).padStart(3, '0')}`)
  const fake = await started(startFakeCloud([...many, 'zoo/api']))
  const remote = remoteOf(bitbucket, { ...LOGIN, endpoint: fake.url })
  for (const isNew of [false, true]) {
    fake.isNew = isNew
    const { children: groups } = await remote.list()
    expect(groups.map(({ type, id }) => [type, id])).toEqual([
      ['group', 'acme'],
      ['group', 'zoo'],
    ])
    const first = await remote.list({ group: 'acme' })
    const second = await remote.list({ group: 'acme', page: first.next })
    expect([...first.children, ...second.children].map(({ id }) => id)).toEqual(many)
    expect(second.next).toBeUndefined()
    const address = 'https://bitbucket.org/acme/repo-000'
    expect(first.children[0]?.data).toMatchObject({ bitbucketId: 'acme/repo-000', HTMLUrl: address })
    expect(await remote.search('api')).toMatchObject({ count: 1, children: [{ id: 'zoo/api' }] })
  }
  await remote.close()
})

it('says which repositories are archived', async () => {
  const cloud = await started(startFakeCloud(['acme/attic', 'acme/web']))
  if (cloud.world.repos[0]) cloud.world.repos[0].isArchived = true
  const offered = async (remote: ReturnType<typeof remoteOf>, group: string) => {
    const { children } = await remote.list({ group })
    await remote.close()
    return children.map(({ name, archived }) => [name, archived])
  }
  const expected = [
    ['attic', true],
    ['web', false],
  ]
  expect(await offered(remoteOf(bitbucket, { ...LOGIN, endpoint: cloud.url }), 'acme')).toEqual(expected)
  await cloud.stop()
  const names = ['attic', 'web'].map((slug) => ['WEB', slug] as const)
  const server = await started(startFakeDataCenter(names))
  if (server.repos[0]) server.repos[0].isArchived = true
  expect(await offered(remoteOf(bitbucketServer, { password: TOKEN, endpoint: server.url }), 'WEB')).toEqual(expected)
})

it('names the rights that a token of Bitbucket Cloud lacks', async () => {
  const fake = await started(startFakeCloud(['acme/web']))
  const settings = { ...LOGIN, endpoint: fake.url, usesApiToken: true }
  expect(await check(bitbucket, settings)).toMatchObject({ success: true, login: 'ada' })
  fake.missing.add('read:pipeline:bitbucket').add('read:issue:bitbucket')
  expect(await check(bitbucket, settings)).toMatchObject({
    success: false,
    message: 'The token lacks read:pipeline:bitbucket, read:issue:bitbucket: create one that has these scopes too.',
  })
  fake.missing.add('read:workspace:bitbucket')
  const { message } = await check(bitbucket, settings)
  expect(message).toContain('lacks read:workspace:bitbucket')
  await expect(check(bitbucket, { ...settings, password: 'wrong' })).rejects.toThrow(/accepts none of the credentials/)
})

it('warns of app passwords, which Bitbucket stops', async () => {
  const fake = await started(startFakeCloud(['acme/web']))
  const { success, message } = await check(bitbucket, { ...LOGIN, endpoint: fake.url, usesApiToken: false })
  expect({ success, message }).toEqual({ success: true, message: expect.stringContaining('create an API token') })
})

it('clones with the user name that belongs to the kind of credentials', () => {
  const cloud = specOf(bitbucket).connection.cloneUser
  expect(cloud?.({ username: 'ada@example.com', usesApiToken: true })).toBe('x-bitbucket-api-token-auth')
  expect(cloud?.({ username: 'ada', usesApiToken: false })).toBe('ada')
  const address = specOf(bitbucket).plan?.cloneUrl?.({ clone_url: 'https://ada@bitbucket.org/acme/web.git' })
  expect(address).toBe('https://bitbucket.org/acme/web.git')
  expect(specOf(bitbucketServer).connection.cloneUser?.({})).toBe('x-token-auth')
})

it('lists and finds repositories of Bitbucket Data Center through all pages', async () => {
  const many = Array.from({ length: 101 }, (_, index) => ['WEB', `repo-${String(index).padStart(3, '0')}`] as const)
  const fake = await started(startFakeDataCenter([...many, ['OPS', 'api']]))
  const remote = remoteOf(bitbucketServer, { password: TOKEN, endpoint: fake.url })
  expect((await remote.list()).children.map(({ id }) => id)).toEqual(['WEB', 'OPS'])
  const first = await remote.list({ group: 'WEB' })
  const second = await remote.list({ group: 'WEB', page: first.next })
  expect([...first.children, ...second.children].map(({ id }) => id)).toEqual(
    many.map(([key, slug]) => `${key}/repos/${slug}`),
  )
  expect(first.children[0]?.data).toMatchObject({ cloneUrl: 'https://ada@bitbucket.example.com/scm/WEB/repo-000.git' })
  expect((await remote.search('repo-00')).children).toHaveLength(10)
  await remote.close()
})

it('says what is wrong with a connection to Bitbucket Data Center', async () => {
  const fake = await started(startFakeDataCenter([['WEB', 'shop']]))
  const settings = { password: TOKEN, endpoint: fake.url }
  expect(await check(bitbucketServer, settings)).toMatchObject({ success: true })
  fake.isBlind = true
  const { success, message } = await check(bitbucketServer, settings)
  expect({ success, message }).toEqual({ success: false, message: expect.stringContaining('may read no repository') })
  const wrong = { ...settings, endpoint: `${fake.url}rest/api/1.0/` }
  await expect(check(bitbucketServer, wrong)).rejects.toThrow(/must not contain \/rest/)
  fake.failures.push({ part: '/projects', status: 200, body: '<html>Sign in</html>' })
  await expect(check(bitbucketServer, settings)).rejects.toThrow()
})
