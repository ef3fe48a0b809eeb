/** When a server is killed while it applies a delivery, the delivery is applied completely or not at all. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Database } from '../../src/database/database.ts'
import { plugins } from '../../src/plugins/index.ts'
import { applyDeliveries } from '../../src/runner/deliveries.ts'
import { createDeliveryThread } from '../../src/runner/delivery-thread.ts'
import { deliveryWork } from '../../src/runner/delivery-work.ts'
import { createFence } from '../../src/runner/fence.ts'
import { createLeases } from '../../src/runner/leases.ts'
import type { Membership } from '../../src/runner/servers.ts'
import { scopeLeases } from '../../src/system/runs.ts'
import { domainRows } from '../collect/support/github.ts'
import { dyingAfter } from '../convergence/support/dying-database.ts'
import { deliveryOf, signed } from '../fake-github/deliveries.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { type Receiver, startReceiver } from './support/receiver.ts'

const WEB = 'acme/web'
const ALIVE: Membership = {
  beat: async () => true,
  isDead: async () => false,
  forgetDead: async () => {},
  leave: async () => {},
}

describeEachWithTables('a delivery while the server is killed', (test) => {
  let receiver: Receiver
  let fake: FakeGithub
  const place = { plugin: 'github', connectionId: 1 }
  beforeAll(async () => {
    receiver = await startReceiver(test.database, test.url)
    fake = await startFakeGithub({ world: { users: 3, repositories: [{ name: WEB, pullRequests: 1, labels: 2 }] } })
    const { services } = receiver.api.control
    const settings = { endpoint: `${fake.url}/`, token: DEFAULT_TOKEN, authMethod: 'AccessToken', enableGraphql: false }
    await services.connections.create('github', { name: 'fake', ...settings })
    const scope = {
      githubId: fake.world.repository(WEB).id,
      name: 'web',
      fullName: WEB,
      HTMLUrl: `https://github.com/${WEB}`,
    }
    await services.scopes.put('github', 1, [scope])
  })
  afterAll(async () => {
    await fake?.stop()
    await receiver?.close()
  })

  const apply = async (database: Database) => {
    const leases = createLeases(test.database, () => ({ leaseHolder: 'this server', membership: ALIVE }))
    const work = deliveryWork({ database, plugins, onFault: () => {} })
    await applyDeliveries({ database, leases, work }, new AbortController().signal).catch(() => {})
    // Other servers release the leases of a dead server like this.
    await test.database.kysely.deleteFrom(scopeLeases.name).execute()
  }

  it('is applied whole or not at all, and in the end once', async () => {
    const [pull] = [...fake.world.repository(WEB).pullRequests]
    const delivery = deliveryOf(fake, WEB, 'pullRequests', (pull as { index: number }).index)
    const secret = await receiver.newSecret(place)
    expect((await receiver.send(place, signed(delivery as never, secret))).status).toBe(202)
    const before = await domainRows(test.database)
    let kills = 0
    for (let statements = 0; ; statements++) {
      await apply(dyingAfter(test.database, statements))
      const [{ state }] = (await receiver.inbox(place)) as [{ state: string }]
      if (state !== 'waiting') break
      kills++
      expect(await domainRows(test.database)).toEqual(before)
    }
    // The server was killed at each of its statements once.
    expect(kills).toBeGreaterThan(20)
    const [only, ...more] = await receiver.inbox(place)
    expect(more).toEqual([])
    expect(only).toMatchObject({ state: 'applied', effect: expect.stringMatching(/^Pull request \d+ changed/) })
    expect((await domainRows(test.database)).pull_requests).toHaveLength(1)
  })

  it('that takes too long is given up in its thread, and says so; it can be replayed', async () => {
    const { log } = receiver.api.control.context
    const { signal } = new AbortController()
    const own = { database: test.database, fence: createFence(), log }
    const [{ id }] = (await receiver.inbox(place)) as [{ id: number }]
    const outcome = async (limitMs?: number) => {
      expect(await receiver.replay(place, id)).toBe(200)
      const work = createDeliveryThread(own, signal, limitMs)
      const leases = createLeases(test.database, () => ({ leaseHolder: 'this server', membership: ALIVE }))
      expect(await applyDeliveries({ database: test.database, leases, work }, signal)).toBe(1)
      await work.close()
      return (await receiver.inbox(place))[0]
    }
    expect(await outcome(1)).toMatchObject({ state: 'failed', effect: expect.stringContaining('takes too long') })
    expect(await outcome()).toMatchObject({
      state: 'applied',
      effect: expect.stringMatching(/^Pull request \d+ changed/),
    })
  })
})
