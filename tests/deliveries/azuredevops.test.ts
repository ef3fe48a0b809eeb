/** Deliveries of Azure DevOps update the stored pull requests, builds and work items. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { azuredevops } from '../../src/plugins/azuredevops-go/plugin.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { SECRET_KEY } from '../api/support/test-api.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { type FakeAzureDevops, startFakeAzureDevops, TOKEN } from '../fake-azuredevops/fake-azuredevops.ts'
import { ORGANIZATION, PROJECT } from '../fake-azuredevops/world.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { type Place, type Receiver, startReceiver } from './support/receiver.ts'

const MINUTE = 60_000
const decrypt = createSecrets(SECRET_KEY).decrypt

describeOneWithTables('deliveries of Azure DevOps', (test) => {
  let receiver: Receiver
  let fake: FakeAzureDevops
  let secret: string
  let place: Place
  let time = 0
  let number = 0

  beforeAll(async () => {
    receiver = await startReceiver(test.database, test.url)
    await receiver.run()
    time = Date.now() - 600 * MINUTE
    fake = await startFakeAzureDevops()
    fake.now = () => new Date(time)
    const { services } = receiver.api.control
    const settings = { name: 'azure', endpoint: fake.url, organization: ORGANIZATION, token: TOKEN }
    const { id } = await services.connections.create('azuredevops_go', settings)
    place = { plugin: 'azuredevops_go', connectionId: id }
    secret = await receiver.newSecret(place)
    const [web] = fake.repositories
    const common = { organizationId: ORGANIZATION, projectId: PROJECT.name }
    await services.scopes.put('azuredevops_go', id, [
      { ...common, id: web?.id, type: 'TfsGit', name: 'web', url: web?.webUrl },
      { ...common, id: PROJECT.id, type: 'Board', name: PROJECT.name, url: 'https://dev.azure.com/acme/shop' },
    ])
  })
  beforeEach(() => {
    time += 60 * MINUTE
  })
  afterEach(() => {
    number++
  })
  afterAll(async () => {
    await receiver?.close()
    await fake?.stop()
  })

  async function collect() {
    for (const id of [fake.repositories[0]?.id, PROJECT.id]) {
      const options = { connectionId: place.connectionId, repositoryId: id }
      await runTask(test.database, azuredevops, options, { decrypt })
    }
    time += 10 * MINUTE
  }
  const sent = (eventType: string, resource: object, password = secret) => ({
    body: JSON.stringify({
      id: `event-${number++}`,
      eventType,
      publisherId: 'tfs',
      createdDate: fake.now().toISOString(),
      resource,
      resourceContainers: { project: { id: PROJECT.id } },
    }),
    headers: {
      'content-type': 'application/json',
      authorization: `Basic ${Buffer.from(`weir:${password}`).toString('base64')}`,
    },
  })
  const deliver = async (eventType: string, resource: object) => {
    expect((await receiver.send(place, sent(eventType, resource))).status).toBe(202)
    return receiver.settled(place)
  }
  const rows = (table: string, ...columns: string[]) =>
    test.database.kysely
      .selectFrom(table)
      .select(columns)
      .orderBy(columns[0] as string)
      .execute()

  it('bring what the next run brings, before it', async () => {
    const pull = fake.openPullRequest(0, { labels: [{ name: 'kept' }] })
    const build = fake.queueBuild(0)
    const item = fake.addWorkItem('Bug')
    await collect()
    fake.close(pull, 'completed')
    fake.finishBuild(build, 'succeeded')
    fake.changeWorkItem(item, { 'System.State': 'Active' })
    const { labels: _, commits: __, threads: ___, ...told } = pull
    expect(await deliver('git.pullrequest.updated', told)).toMatchObject({ state: 'applied' })
    expect(await deliver('build.complete', build)).toMatchObject({ state: 'applied' })
    const creator = item.fields['System.CreatedBy']
    const fields = { ...item.fields, 'System.CreatedBy': `${creator.displayName} <${creator.uniqueName}>` }
    const revision = { id: item.id, rev: item.rev, fields }
    expect(await deliver('workitem.updated', { id: 1, workItemId: item.id, revision })).toMatchObject({
      state: 'applied',
    })
    const stored = async () => [
      await rows('pull_requests', 'id', 'status', 'merged_date'),
      await rows('pull_request_labels', 'label_name'),
      await rows('cicd_pipelines', 'id', 'status', 'result'),
      await rows('issues', 'id', 'status', 'creator_id'),
    ]
    const early = await stored()
    expect(early).toMatchObject([
      [{ status: 'MERGED', merged_date: fake.now() }],
      [{ label_name: 'kept' }],
      [{ result: 'SUCCESS' }],
      [{ status: 'IN_PROGRESS', creator_id: expect.stringContaining(creator.id) }],
    ])
    time += MINUTE
    await collect()
    expect(await stored()).toEqual(early)
  })

  it('are refused without the secret, and say what they cannot use', async () => {
    expect((await receiver.send(place, sent('git.push', {}, 'wrong'))).status).toBe(401)
    const { headers: _, ...unsigned } = sent('git.push', {})
    const open = { ...unsigned, headers: { 'content-type': 'application/json' } }
    expect((await receiver.send(place, open)).status).toBe(401)
    const repository = { id: fake.repositories[0]?.id }
    expect((await deliver('git.push', { repository })).effect).toMatch(/the next run brings it/)
    expect((await deliver('tfvc.checkin', { repository })).effect).toMatch(/Nothing follows from tfvc.checkin/)
    const elsewhere = { repository: { id: 'other', name: 'other' }, pullRequestId: 1 }
    expect((await deliver('git.pullrequest.created', elsewhere)).effect).toMatch(/other is no scope/)
  })
})
