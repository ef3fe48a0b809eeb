/** Deliveries of Bitbucket, Cloud and Data Center: complete pull requests and issues, before the next run collects them. */
import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { bitbucket } from '../../src/plugins/bitbucket/plugin.ts'
import { bitbucketServer } from '../../src/plugins/bitbucket-server/plugin.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { SECRET_KEY } from '../api/support/test-api.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { LOGIN, startFakeCloud } from '../fake-bitbucket/cloud.ts'
import { CLOUD_CHANGES, type FakeRepo } from '../fake-bitbucket/cloud-world.ts'
import { type FakeServerRepo, startFakeDataCenter, TOKEN } from '../fake-bitbucket/data-center.ts'
import type { FakeShell } from '../fake-bitbucket/http.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { type Place, type Receiver, rowsOfConnection, startReceiver } from './support/receiver.ts'

const MINUTE = 60_000
const CARRIED = ['pull_requests', 'pull_request_reviewers', 'issues', 'board_issues', 'issue_assignees']
const decrypt = createSecrets(SECRET_KEY).decrypt

describeOneWithTables('deliveries of Bitbucket', (test) => {
  let receiver: Receiver
  let fake: FakeShell | undefined
  beforeAll(async () => {
    receiver = await startReceiver(test.database, test.url)
    await receiver.run()
  })
  afterAll(() => receiver?.close())
  afterEach(() => fake?.stop())

  async function connect(plugin: string, settings: object, bitbucketId: string): Promise<Place> {
    const { services } = receiver.api.control
    const { id } = await services.connections.create(plugin, { name: `fake ${plugin}`, ...settings })
    const scope = { bitbucketId, name: 'web', HTMLUrl: 'https://bitbucket.example.com/web' }
    await services.scopes.put(plugin, id, [scope as never])
    return { plugin, connectionId: id }
  }
  const sent = (event: string, payload: unknown, secret: string) => {
    const body = JSON.stringify(payload)
    const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
    const id = randomUUID()
    const headers = { 'x-event-key': event, 'x-hub-signature': signature, 'x-request-uuid': id, 'x-request-id': id }
    return { body, headers: { 'content-type': 'application/json', ...headers } }
  }

  it('brings pull requests and issues of Bitbucket Cloud as the next run does', async () => {
    const cloud = await startFakeCloud(['acme/web'])
    fake = cloud
    cloud.clock.set(Date.now() - 60 * MINUTE)
    const repo = cloud.world.repos[0] as FakeRepo
    const act = (name: keyof typeof CLOUD_CHANGES, number = 0) => {
      cloud.clock.advance(5 * MINUTE)
      CLOUD_CHANGES[name](cloud.world, repo, number, new Date(cloud.clock.now()).toISOString())
    }
    for (const name of ['open pull request', 'open pull request', 'open issue'] as const) act(name)
    const place = await connect('bitbucket', { ...LOGIN, endpoint: cloud.url, usesApiToken: true }, 'acme/web')
    const secret = await receiver.newSecret(place)
    const collect = () =>
      runTask(test.database, bitbucket, { connectionId: place.connectionId, fullName: 'acme/web' }, { decrypt })
    await collect()
    const repository = { full_name: 'acme/web' }
    const deliver = async (event: string, payload: object) => {
      expect((await receiver.send(place, sent(event, { repository, ...payload }, secret))).status).toBe(202)
      return receiver.settled(place)
    }
    act('approve')
    expect(await deliver('pullrequest:approved', { pullrequest: repo.pullRequests[0] })).toMatchObject({
      state: 'applied',
    })
    act('decline', 1)
    await deliver('pullrequest:rejected', { pullrequest: repo.pullRequests[1] })
    act('change issue')
    await deliver('issue:updated', { issue: repo.issues[0] })
    const early = await rowsOfConnection(test.database, place, CARRIED)
    expect(early.pull_requests?.join()).toContain('DECLINED')
    cloud.clock.advance(MINUTE)
    await collect()
    expect(early).toEqual(await rowsOfConnection(test.database, place, CARRIED))
    expect((await deliver('repo:push', {})).effect).toMatch(/the next run brings it/)
    const stranger = sent('pullrequest:updated', { repository, pullrequest: repo.pullRequests[0] }, 'wrong')
    expect((await receiver.send(place, stranger)).status).toBe(401)
  })

  it('brings pull requests of Bitbucket Data Center as the next run does', async () => {
    const server = await startFakeDataCenter([['WEB', 'web']])
    fake = server
    server.clock.set(Date.now() - 60 * MINUTE)
    const repo = server.repos[0] as FakeServerRepo
    for (const name of ['open', 'open'] as const) server.change(name, repo, 0)
    const place = await connect('bitbucket_server', { password: TOKEN, endpoint: server.url }, 'WEB/repos/web')
    const secret = await receiver.newSecret(place)
    const options = { connectionId: place.connectionId, fullName: 'WEB/repos/web' }
    const collect = () => runTask(test.database, bitbucketServer, options, { decrypt })
    await collect()
    server.clock.advance(5 * MINUTE)
    server.change('decline', repo, 0)
    const pullRequest = { ...repo.pullRequests[0], links: { self: [null] } }
    expect((await receiver.send(place, sent('pr:declined', { pullRequest }, secret))).status).toBe(202)
    expect(await receiver.settled(place)).toMatchObject({ state: 'applied' })
    const early = await rowsOfConnection(test.database, place, CARRIED)
    expect(early.pull_requests?.join()).toContain('DECLINED')
    server.clock.advance(MINUTE)
    await collect()
    expect(early).toEqual(await rowsOfConnection(test.database, place, CARRIED))
    await receiver.send(place, sent('diagnostics:ping', { test: true }, secret))
    expect((await receiver.settled(place)).state).not.toBe('failed')
  })
})
