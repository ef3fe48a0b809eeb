/** Events of PagerDuty update the stored incidents. */
import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { pagerduty } from '../../src/plugins/pagerduty/plugin.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { SECRET_KEY } from '../api/support/test-api.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { type FakePagerduty, startFakePagerduty, TOKEN } from '../fake-pagerduty/fake-pagerduty.ts'
import type { FakeEvent, FakeIncident, FakeService } from '../fake-pagerduty/world.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { type Place, type Receiver, rowsOfConnection, startReceiver } from './support/receiver.ts'

const SECRET = 'signing-secret-of-pagerduty'
const CARRIED = ['issues', 'board_issues', 'issue_assignees']
const MINUTE = 60_000
const decrypt = createSecrets(SECRET_KEY).decrypt
const signatureOf = (body: string, secret = SECRET) => `v1=${createHmac('sha256', secret).update(body).digest('hex')}`

describeOneWithTables('deliveries of PagerDuty', (test) => {
  let receiver: Receiver
  let fake: FakePagerduty
  let service: FakeService
  let place: Place
  let now = 0
  let number = 0

  beforeAll(async () => {
    receiver = await startReceiver(test.database, test.url)
    await receiver.run()
  })
  afterAll(() => receiver?.close())
  beforeEach(async () => {
    fake = await startFakePagerduty()
    now = Math.floor(Date.now() / 1000) * 1000 - 60 * MINUTE
    fake.world.now = () => new Date(now)
    service = fake.world.addService(`PSERV${number}`, 'Web')
    fake.world.trigger(service)
    fake.world.resolve(fake.world.trigger(service))
    const { services } = receiver.api.control
    const settings = { endpoint: fake.url, token: TOKEN }
    const { id } = await services.connections.create('pagerduty', { name: `fake ${number++}`, ...settings })
    place = { plugin: 'pagerduty', connectionId: id }
    const path = `/v1/plugins/pagerduty/connections/${id}/deliveries/secret`
    expect(await receiver.api.ask('POST', path)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('makes the secret itself') },
    })
    expect((await receiver.api.ask('PUT', path, { secret: SECRET })).status).toBe(200)
    await services.scopes.put('pagerduty', id, [{ id: service.id, name: 'Web', url: service.html_url }])
    await collect()
  })
  afterEach(() => fake.stop())

  const collect = () =>
    runTask(test.database, pagerduty, { connectionId: place.connectionId, serviceId: service.id }, { decrypt })
  const act = (change: () => unknown): FakeEvent => {
    now += 5 * MINUTE
    change()
    return fake.world.events.at(-1) as FakeEvent
  }
  const send = (payload: unknown, signature?: string) => {
    const body = JSON.stringify(payload)
    const headers = { 'content-type': 'application/json', 'x-pagerduty-signature': signature ?? signatureOf(body) }
    return receiver.send(place, { body, headers })
  }
  const deliver = async (payload: unknown) => {
    expect((await send(payload)).status).toBe(202)
    return receiver.settled(place)
  }
  const carried = () => rowsOfConnection(test.database, place, CARRIED)
  const incident = (at: number) => fake.world.incidents[at] as FakeIncident

  it('brings what the next run brings, before it', async () => {
    const { world } = fake
    const changes = [
      () => world.trigger(service, { user: 2 }),
      () => world.acknowledge(incident(0)),
      () => world.reassign(incident(0), 1),
      () => world.prioritise(incident(2), 1),
      () => world.resolve(incident(0)),
      () => world.reopen(incident(1)),
    ]
    for (const change of changes) {
      const { state, effect } = await deliver(act(change))
      expect(`${state} ${effect}`).toMatch(/^applied Incident \d changed/)
    }
    const early = await carried()
    now += MINUTE
    await collect()
    const after = await carried()
    for (const name of CARRIED) expect(early[name], name).toEqual(after[name])
  })

  it('keeps what is newer, and says what it cannot use', async () => {
    const first = act(() => fake.world.acknowledge(incident(0)))
    const second = act(() => fake.world.resolve(incident(0)))
    expect((await deliver(second)).state).toBe('applied')
    expect((await deliver(first)).effect).toMatch(/stored is newer/)
    const told = first.event
    const outcomes: [any, RegExp][] = [
      [{ ...told, id: 'a', event_type: 'incident.annotated' }, /\(annotated\): the next run brings it/],
      [
        { ...told, id: 'b', event_type: 'incident.reassigned', data: { ...told.data, id: 'QX', number: 99 } },
        /only collecting/,
      ],
      [{ ...told, id: 'c', data: { ...told.data, service: { id: 'PX', summary: 'Other' } } }, /Other is no scope/],
      [{ ...told, id: 'd', event_type: 'pagey.ping', data: { message: 'Hello' } }, /reaches this address/],
      [{ ...told, id: 'e', event_type: 'postmortem.written' }, /Nothing follows from postmortem.written/],
    ]
    for (const [event, effect] of outcomes) expect((await deliver({ event })).effect).toMatch(effect)
  })

  it('takes only what is signed with the secret that PagerDuty made', async () => {
    const event = act(() => fake.world.acknowledge(incident(0)))
    const right = signatureOf(JSON.stringify(event))
    const wrong = ['', 'v1=', signatureOf(JSON.stringify(event), 'another-secret'), right.replace('v1', 'sha256')]
    for (const signature of wrong) expect((await send(event, signature)).status).toBe(401)
    const exchanged = `${signatureOf(JSON.stringify(event), 'another-secret')},${right}`
    expect((await send(event, exchanged)).status).toBe(202)
    expect((await receiver.settled(place)).state).toBe('applied')
  })
})
