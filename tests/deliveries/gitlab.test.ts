/** Deliveries of GitLab update the stored merge requests and issues. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { gitlab } from '../../src/plugins/gitlab/plugin.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { SECRET_KEY } from '../api/support/test-api.ts'
import { runTask } from '../convergence/support/run-task.ts'
import type { ActName } from '../fake-gitlab/changes.ts'
import { changeTimes, type Delivery, deliveriesSince, signed } from '../fake-gitlab/deliveries.ts'
import { DEFAULT_TOKEN, type FakeGitlab, startFakeGitlab } from '../fake-gitlab/fake-gitlab.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { type Place, type Receiver, rowsOfConnection, startReceiver } from './support/receiver.ts'

const WEB = 'acme/web'
const FEW = { issues: 3, mergeRequests: 3, commitsPerMergeRequest: [1, 1], notesPerMergeRequest: [0, 0] } as const
const CARRIED = [
  'pull_requests',
  'pull_request_labels',
  'pull_request_assignees',
  'pull_request_reviewers',
  'issues',
  'issue_labels',
  'issue_assignees',
  'board_issues',
]
const MINUTE = 60_000
const decrypt = createSecrets(SECRET_KEY).decrypt

describeOneWithTables('deliveries of GitLab', (test) => {
  let receiver: Receiver
  let fake: FakeGitlab
  let secret: string
  let place: Place
  let number = 0

  beforeAll(async () => {
    receiver = await startReceiver(test.database, test.url)
    await receiver.run()
  })
  afterAll(() => receiver?.close())
  beforeEach(async () => {
    const until = new Date(Date.now() - 120 * MINUTE).toISOString()
    const from = new Date(Date.now() - 10_000 * MINUTE).toISOString()
    fake = await startFakeGitlab({ world: { users: 4, projects: [{ path: WEB, ...FEW }], from, until } })
    fake.clock.set(Date.now() - 60 * MINUTE)
    const { services } = receiver.api.control
    const settings = {
      endpoint: `${fake.url.replace(/\/$/, '').replace(/\/api\/v4$/, '')}/api/v4/`,
      token: DEFAULT_TOKEN,
    }
    const { id } = await services.connections.create('gitlab', { name: `fake ${number++}`, ...settings })
    place = { plugin: 'gitlab', connectionId: id }
    secret = await receiver.newSecret(place)
    const gitlabId = fake.world.projects[0]?.id
    const scope = { gitlabId, name: 'web', pathWithNamespace: WEB, webUrl: `https://gitlab.example.com/${WEB}` }
    await services.scopes.put('gitlab', id, [scope])
    await collect()
  })
  afterEach(() => fake.stop())

  async function collect() {
    const options = { connectionId: place.connectionId, projectId: fake.world.projects[0]?.id }
    await runTask(test.database, gitlab, options, { decrypt })
  }
  const act = (name: ActName, ...numbers: number[]): Delivery[] => {
    fake.clock.set(fake.clock.now() + 5 * MINUTE)
    const before = changeTimes(fake, WEB)
    fake.update({ project: WEB, act: name, with: numbers })
    return deliveriesSince(fake, WEB, before)
  }
  const deliver = async (delivery: Delivery, id?: string) => {
    expect((await receiver.send(place, signed(delivery, secret, id))).status).toBe(202)
    return receiver.settled(place)
  }
  const carried = () => rowsOfConnection(test.database, place, CARRIED)

  it('brings what the next run brings, before it', async () => {
    const acts: [ActName, ...number[]][] = [
      ['open merge request', 1],
      ['edit merge request', 0, 3],
      ['ask for review', 0, 2],
      ['merge merge request', 0],
      ['open issue', 1],
      ['edit issue', 0, 2],
      ['assign issue', 0, 1],
      ['close issue', 1],
    ]
    const states: string[] = []
    for (const [name, ...numbers] of acts) {
      for (const delivery of act(name, ...numbers)) {
        const { state, effect } = await deliver(delivery)
        states.push(`${name}: ${state} ${effect}`)
      }
    }
    expect(states).toHaveLength(acts.length)
    for (const each of states) expect(each).toMatch(/: applied (Issue|Merge request) \d+ changed/)
    const early = await carried()
    fake.clock.set(fake.clock.now() + MINUTE)
    await collect()
    const after = await carried()
    for (const name of CARRIED) expect(early[name], name).toEqual(after[name])
  })

  it('keeps what is newer, and says what it cannot use', async () => {
    const [first] = act('edit issue', 0, 1) as [Delivery]
    const [second] = act('edit issue', 0, 2) as [Delivery]
    expect((await deliver(second)).state).toBe('applied')
    expect((await deliver(first)).effect).toMatch(/stored is newer/)
    const { project } = first.payload
    const stranger = { ...first.payload, object_attributes: { ...first.payload.object_attributes, id: 99, iid: 99 } }
    const outcomes: [any, RegExp][] = [
      [stranger, /lacks what only collecting brings/],
      [{ object_kind: 'pipeline', project, object_attributes: {} }, /the next run brings it/],
      [{ object_kind: 'wiki_page', project }, /Nothing follows from wiki_page/],
      [{ ...first.payload, project: { id: 4711, path_with_namespace: 'acme/other' } }, /acme\/other is no scope/],
    ]
    for (const [payload, effect] of outcomes) {
      const result = await deliver({ event: payload.object_kind, payload })
      expect(result).toMatchObject({ state: 'ignored', effect: expect.stringMatching(effect) })
    }
  })

  it('knows a server by its signature or by the secret token, and nobody else', async () => {
    const [delivery] = act('edit issue', 0, 1) as [Delivery]
    const { body, headers } = signed(delivery, secret, 'one')
    const byToken = (token: string) => ({ body, headers: { 'x-gitlab-token': token, 'x-gitlab-event-uuid': 'two' } })
    const wrong = [
      { body, headers: { 'content-type': 'application/json' } },
      { body: `${body} `, headers },
      { body, headers: { ...headers, 'webhook-id': 'another' } },
      { body, headers: { ...headers, 'webhook-signature': 'v1,AAAA', 'x-gitlab-token': secret } },
      byToken('whsec_d3Jvbmc='),
      byToken(''),
    ]
    for (const each of wrong) expect((await receiver.send(place, each)).status).toBe(401)
    expect((await receiver.send(place, byToken(secret))).status).toBe(202)
    expect((await receiver.settled(place)).state).toBe('applied')
    expect((await receiver.send(place, { body, headers })).status).toBe(202)
    expect((await receiver.settled(place)).kind).toBe('issue')
  })
})
