/** Events of Linear update the stored issues. */
import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { linear } from '../../src/plugins/linear/plugin.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { SECRET_KEY } from '../api/support/test-api.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { type FakeLinear, startFakeLinear, TOKEN } from '../fake-linear/fake-linear.ts'
import type { FakeTeam } from '../fake-linear/world.ts'
import { describeOneDatabase } from '../support/databases.ts'
import { type Place, type Receiver, rowsOfConnection, startReceiver } from './support/receiver.ts'

const SECRET = 'signing-secret-of-linear'
const CARRIED = ['issues', 'board_issues', 'issue_assignees', 'issue_labels']
const MINUTE = 60_000
const decrypt = createSecrets(SECRET_KEY).decrypt
const signatureOf = (body: string, secret = SECRET) => createHmac('sha256', secret).update(body).digest('hex')

describeOneDatabase('deliveries of Linear', (test) => {
  let receiver: Receiver
  let fake: FakeLinear
  let team: FakeTeam
  let place: Place
  let now = 0
  let number = 0

  beforeAll(async () => {
    receiver = await startReceiver(test.database, test.url)
    await receiver.run()
  })
  afterAll(() => receiver?.close())
  beforeEach(async () => {
    fake = await startFakeLinear()
    now = Math.floor(Date.now() / 1000) * 1000 - 60 * MINUTE
    fake.world.now = () => new Date(now)
    team = fake.world.addTeam(`team-${number}`, 'Web', `WEB${number}`)
    fake.world.open(team, { labels: [1] })
    fake.world.move(fake.world.open(team), 2)
    const { services } = receiver.api.control
    const { id } = await services.connections.create('linear', {
      name: `fake ${number++}`,
      endpoint: fake.url,
      token: TOKEN,
    })
    place = { plugin: 'linear', connectionId: id }
    const path = `/v1/plugins/linear/connections/${id}/deliveries/secret`
    expect((await receiver.api.ask('PUT', path, { secret: SECRET })).status).toBe(200)
    await services.scopes.put('linear', id, [{ teamId: team.id, name: team.name, key: team.key }])
    await collect()
  })
  afterEach(() => fake.stop())

  const collect = () =>
    runTask(test.database, linear, { connectionId: place.connectionId, teamId: team.id }, { decrypt })
  const act = (change: () => unknown): Record<string, unknown> => {
    now += 5 * MINUTE
    change()
    return fake.world.events.at(-1)?.payload ?? {}
  }
  const send = (payload: unknown, signature?: string) => {
    const body = JSON.stringify(payload)
    const headers = {
      'content-type': 'application/json',
      'linear-delivery': randomUUID(),
      'linear-signature': signature ?? signatureOf(body),
    }
    return receiver.send(place, { body, headers })
  }
  const deliver = async (payload: unknown) => {
    expect((await send(payload)).status).toBe(202)
    return receiver.settled(place)
  }
  const carried = () => rowsOfConnection(test.database, place, CARRIED)

  it('brings what the next run brings, before it', async () => {
    const { world } = fake
    const [first, second] = team.issues
    const changes = [
      () => world.open(team, { user: 2 }),
      () => world.move(first, 1),
      () => world.assign(first, 2),
      () => world.label(first, [0, 2]),
      () => world.edit(second, 'Another title'),
      () => world.trash(second),
    ]
    for (const change of changes) {
      const { state, effect } = await deliver(act(change))
      expect(`${state} ${effect}`).toMatch(/^applied Issue WEB\d+-\d changed/)
    }
    const early = await carried()
    expect(early.issues).toHaveLength(2)
    now += MINUTE
    await collect()
    const after = await carried()
    for (const name of CARRIED) expect(early[name], name).toEqual(after[name])
  })

  it('keeps what is newer, and notes what only collecting brings', async () => {
    const first = act(() => fake.world.move(team.issues[0], 1))
    const second = act(() => fake.world.move(team.issues[0], 2))
    expect((await deliver(second)).state).toBe('applied')
    expect((await deliver(first)).effect).toMatch(/stored is newer/)
    const comment = { action: 'create', type: 'Comment', data: { id: 'c', teamId: team.id } }
    expect((await deliver(comment)).effect).toMatch(/the next run brings it/)
    const elsewhere = { ...second, data: { ...(second.data as object), teamId: 'other', team: { name: 'Other' } } }
    expect((await deliver(elsewhere)).effect).toMatch(/Other is no scope/)
  })

  it('takes only what is signed with the secret that Linear made', async () => {
    const event = act(() => fake.world.move(team.issues[0], 1))
    for (const signature of ['', signatureOf(JSON.stringify(event), 'another-secret')]) {
      expect((await send(event, signature)).status).toBe(401)
    }
    expect((await deliver(event)).state).toBe('applied')
  })
})
