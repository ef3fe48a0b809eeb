/** Deliveries of Jira update the stored issues, on all boards that have them. */
import { createHmac, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { jira } from '../../src/plugins/jira/plugin.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { SECRET_KEY } from '../api/support/test-api.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { platformIssue, updateOf } from '../fake-jira/deliveries.ts'
import { type FakeJira, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { type Place, type Receiver, rowsOfConnection, startReceiver } from './support/receiver.ts'

const BOARDS = [5, 6]
const CARRIED = ['issues', 'board_issues', 'issue_labels', 'issue_changelogs', 'issue_worklogs', 'issue_assignees']
const MINUTE = 60_000
const decrypt = createSecrets(SECRET_KEY).decrypt

function signed(payload: object, secret: string, id: string = randomUUID()) {
  const body = JSON.stringify(payload)
  const signature = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
  return {
    body,
    headers: { 'content-type': 'application/json', 'x-hub-signature': signature, 'x-atlassian-webhook-identifier': id },
  }
}

describeOneWithTables('deliveries of Jira', (test) => {
  let receiver: Receiver
  let fake: FakeJira
  let secret: string
  let place: Place
  let number = 0
  let now = Date.now()

  beforeAll(async () => {
    receiver = await startReceiver(test.database, test.url)
    await receiver.run()
  })
  afterAll(() => receiver?.close())
  beforeEach(async () => {
    fake = await startFakeJira()
    now = Date.now() - 120 * MINUTE
    fake.now = () => new Date(now)
    fake.issues.length = 0
    fake.createIssue({ boards: [...BOARDS] })
    fake.createIssue({ boards: [5] })
    const { services } = receiver.api.control
    const settings = { endpoint: fake.url, authMethod: 'BasicAuth', ...USER }
    const { id } = await services.connections.create('jira', { name: `fake ${number++}`, ...settings })
    place = { plugin: 'jira', connectionId: id }
    secret = await receiver.newSecret(place)
    await services.scopes.put(
      'jira',
      id,
      BOARDS.map((board) => ({ boardId: board, name: `Board ${board}` })),
    )
    await collect()
    now += 10 * MINUTE
  })
  afterEach(() => fake.stop())

  async function collect() {
    for (const boardId of BOARDS) {
      await runTask(test.database, jira, { connectionId: place.connectionId, boardId }, { decrypt })
    }
  }
  const carried = () => rowsOfConnection(test.database, place, CARRIED)
  const platform = (issue: any) => platformIssue(fake, issue)
  const updated = (issue: any, change?: any) => updateOf(fake, issue, change).payload
  const deliver = async (payload: object, id?: string) => {
    expect((await receiver.send(place, signed(payload, secret, id))).status).toBe(202)
    return receiver.settled(place)
  }

  it('brings changes of an issue to all of its boards, as the next run does', async () => {
    const [shared, other] = fake.issues
    fake.setStatus(shared.id, '2')
    const change = shared.changelog.histories.at(-1)
    expect(await deliver(updated(shared, change))).toMatchObject({
      state: 'applied',
      scope: shared.key,
      kind: 'jira:issue_updated',
      effect: expect.stringMatching(new RegExp(`^Issue ${shared.key} changed: \\d+ rows`)),
    })
    now += MINUTE
    fake.setLabels(other.id, ['red'])
    expect((await deliver(updated(other))).state).toBe('applied')
    now += MINUTE
    const worklog = fake.addWorklog(other.id)
    const { payload } = {
      payload: { timestamp: now, webhookEvent: 'worklog_created', worklog: { ...worklog, issueId: other.id } },
    }
    expect((await deliver(payload)).state).toBe('applied')
    const early = await carried()
    expect(early.issue_changelogs).toHaveLength(1)
    expect(early.issue_worklogs).toHaveLength(1)
    expect(early.issue_labels).toHaveLength(1)
    now += MINUTE
    await collect()
    const after = await carried()
    for (const name of CARRIED) expect(early[name]?.map(withoutScope), name).toEqual(after[name]?.map(withoutScope))
  })

  it('keeps what is newer, and what it cannot place', async () => {
    const [shared] = fake.issues
    const first = updated(shared)
    fake.editIssue(shared.id, { summary: 'one' })
    const one = updated(shared)
    now += MINUTE
    fake.editIssue(shared.id, { summary: 'two' })
    expect((await deliver(updated(shared))).state).toBe('applied')
    expect(await deliver(one)).toMatchObject({ state: 'ignored', effect: expect.stringMatching(/stored is newer/) })
    expect((await deliver(first)).state).toBe('ignored')
    const stranger = fake.createIssue({ boards: [5] })
    const outcomes: [object, RegExp][] = [
      [updated(stranger), /No board of this connection has/],
      [{ webhookEvent: 'jira:issue_created', issue: platform(stranger) }, /the next run of its boards brings it/],
      [{ webhookEvent: 'jira:issue_deleted', issue: platform(shared) }, /the next run takes it away/],
      [{ webhookEvent: 'board_created' }, /Nothing follows from board_created/],
    ]
    for (const [payload, effect] of outcomes) {
      expect(await deliver(payload)).toMatchObject({ state: 'ignored', effect: expect.stringMatching(effect) })
    }
  })

  it('knows a server without signatures by the secret in the address, and nobody else', async () => {
    const [shared] = fake.issues
    fake.editIssue(shared.id, { summary: 'by address' })
    const { body } = signed(updated(shared), secret)
    const plain = { body, headers: { 'content-type': 'application/json' } }
    expect((await receiver.send(place, plain)).status).toBe(401)
    expect((await receiver.send(place, plain, '?secret=wrong')).status).toBe(401)
    const wrong = { ...plain, headers: { ...plain.headers, 'x-hub-signature': 'sha256=00' } }
    expect((await receiver.send(place, wrong, `?secret=${secret}`)).status).toBe(401)
    expect((await receiver.send(place, plain, `?secret=${secret}`)).status).toBe(202)
    expect((await receiver.settled(place)).state).toBe('applied')
    expect((await receiver.send(place, plain, `?secret=${secret}`)).status).toBe(202)
    expect((await receiver.inbox(place)).filter(({ state }) => state === 'applied')).toHaveLength(1)
    expect(JSON.stringify(await receiver.inbox(place)) + receiver.api.log()).not.toContain(secret)
  })
})

/** Removes the scope from a row: if two boards have the record, either may have made the row. */
const withoutScope = (row: string): string => row.replace(/"_raw_data_params":"[^}]*}",?/, '')
