/** Deliveries of GitHub give the same rows as a collection, before or after any run. */
import { createHmac } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Plugin } from '../../src/plugin-kit/spec/plugin.ts'
import { githubGraphql } from '../../src/plugins/github/graphql-plugin.ts'
import { github } from '../../src/plugins/github/plugin.ts'
import { createLeases } from '../../src/runner/leases.ts'
import { joinServers, LEASE_MS } from '../../src/runner/servers.ts'
import { createSecrets } from '../../src/secrets/secrets.ts'
import { SECRET_KEY } from '../api/support/test-api.ts'
import { runTask } from '../convergence/support/run-task.ts'
import { type Delivery, deliveryOf, signed } from '../fake-github/deliveries.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import type { Change } from '../fake-github/world/changes.ts'
import type { Collections } from '../fake-github/world/repository.ts'
import type { RepositorySettings } from '../fake-github/world/settings.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { type Place, type Receiver, rowsOfConnection, startReceiver } from './support/receiver.ts'

const WEB = 'acme/web'
const FEW: Partial<RepositorySettings> = {
  issues: 3,
  pullRequests: 3,
  workflowRuns: 2,
  labels: 3,
  milestones: 1,
  commits: 2,
  deployments: 2,
  releases: 1,
  jobsPerRun: 2,
  eventsPerIssue: [0, 0],
  commitsPerPullRequest: [1, 1],
  statusesPerDeployment: [1, 1],
  // Records that are delivered one at a time.
  commentsPerIssue: [0, 0],
  reviewsPerPullRequest: [0, 0],
  commentsPerReview: [0, 0],
}
const MINUTE = 60_000
/** Tables whose rows deliveries contain completely. Commits, people and titles of deployments come with the next run. */
const CARRIED = [
  'pull_requests',
  'pull_request_labels',
  'pull_request_comments',
  'pull_request_reviewers',
  'issues',
  'issue_labels',
  'issue_assignees',
  'issue_comments',
  'board_issues',
  'sprint_issues',
  'cicd_pipelines',
  'cicd_pipeline_commits',
  'cicd_tasks',
  'cicd_deployments',
  'cicd_deployment_commits',
]
const WAYS: readonly (readonly [string, Plugin, boolean])[] = [
  ['REST', github, false],
  ['GraphQL', githubGraphql, true],
]
const signatureOf = (body: string, secret: string) =>
  `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`
const decrypt = createSecrets(SECRET_KEY).decrypt

for (const [way, plugin, enableGraphql] of WAYS) {
  describeOneWithTables(`deliveries of GitHub, collected over ${way}`, (test) => {
    let receiver: Receiver
    let fake: FakeGithub
    let secret: string
    let place: Place
    let number = 0

    beforeAll(async () => {
      receiver = await startReceiver(test.database, test.url)
    })
    afterAll(() => receiver?.close())
    beforeEach(async () => {
      await receiver.run()
      fake = await startFakeGithub({
        world: {
          users: 5,
          repositories: [
            { name: WEB, ...FEW },
            { name: 'acme/api', ...FEW },
          ],
        },
      })
      fake.clock.set(Date.now() - 60 * MINUTE)
      const { services } = receiver.api.control
      const settings = { endpoint: `${fake.url}/`, token: DEFAULT_TOKEN, authMethod: 'AccessToken', enableGraphql }
      const { id } = await services.connections.create('github', { name: `fake ${number++}`, ...settings })
      place = { plugin: 'github', connectionId: id }
      secret = await receiver.newSecret(place)
      await addScope(WEB)
    })
    afterEach(() => fake.stop())

    async function addScope(fullName: string) {
      const { id } = fake.world.repository(fullName)
      const scope = { githubId: id, name: fullName.split('/')[1], fullName, HTMLUrl: `https://github.com/${fullName}` }
      await receiver.api.control.services.scopes.put('github', place.connectionId, [scope])
    }
    const collect = async (fullSync = false) => {
      const options = { connectionId: place.connectionId, githubId: fake.world.repository(WEB).id }
      await runTask(test.database, plugin, options, { fullSync, decrypt })
    }
    const later = (minutes = 10) => fake.clock.set(fake.clock.now() + minutes * MINUTE)
    const told = (kind: keyof Collections, index: number, repository = WEB): Delivery =>
      deliveryOf(fake, repository, kind, index) as Delivery
    const change = (values: object, repository = WEB) => fake.update({ repository, ...values } as unknown as Change)
    const deliver = async (delivery: Delivery, id?: string) => {
      expect((await receiver.send(place, signed(delivery, secret, id))).status).toBe(202)
      return receiver.settled(place)
    }
    const carried = () => rowsOfConnection(test.database, place, CARRIED)
    const pullRequest = async (index = first('pullRequests')) => {
      const rows = await test.database.kysely
        .selectFrom('pull_requests')
        .selectAll()
        .where(
          'id',
          '=',
          `github:GithubPullRequest:${place.connectionId}:${fake.world.repository(WEB).pullRequests.get(index)?.id}`,
        )
        .execute()
      return rows[0]
    }
    const first = (kind: keyof Collections): number => ([...fake.world.repository(WEB)[kind]][0] as any).index

    it('brings what the next run brings, before it', async () => {
      await collect()
      later()
      const [pull, issue] = [first('pullRequests'), first('issues')]
      change({ edit: 'pullRequests', index: pull, with: { title: 'Better', labels: ['bug'], requestedReviewers: [] } })
      const opened = change({ add: 'pullRequests', with: { title: 'New' } })?.index as number
      change({
        edit: 'issues',
        index: issue,
        with: { title: 'Worse', labels: [], assignees: ['user-2'], milestone: null },
      })
      const states: string[] = []
      const tell = async (kind: keyof Collections, index: number) =>
        states.push((await deliver(told(kind, index))).state)
      await tell('pullRequests', pull)
      await tell('pullRequests', opened)
      await tell('issues', issue)
      later(1)
      const comment = change({ add: 'comments', parent: issue })?.index as number
      await tell('comments', comment)
      later(1)
      const review = change({ add: 'reviews', parent: pull, with: { state: 'APPROVED' } })?.index as number
      await tell('reviews', review)
      await tell('reviewComments', change({ add: 'reviewComments', parent: review })?.index as number)
      await tell('comments', change({ add: 'comments', parent: pull })?.index as number)
      later(1)
      const run = change({ add: 'runs' })?.index as number
      await tell('runs', run)
      if (!enableGraphql) {
        await tell('jobs', (fake.world.repository(WEB).jobs.childrenOf(run)[0] as any).index)
        await tell('jobs', (fake.world.repository(WEB).jobs.childrenOf(run)[1] as any).index)
        const status = change({ add: 'statuses', parent: first('deployments'), with: { state: 'failure' } })
        await tell('statuses', status?.index as number)
      }
      expect(states).toEqual(states.map(() => 'applied'))
      expect(await pullRequest(pull)).toMatchObject({ title: 'Better' })
      const early = await carried()
      later(1)
      await collect()
      const after = await carried()
      const jobsOfRun = enableGraphql ? ['cicd_tasks'] : []
      for (const name of CARRIED.filter((each) => !jobsOfRun.includes(each))) {
        expect(early[name], name).toEqual(after[name])
      }
      expect(fake.violations).toEqual([])
    })

    it('says what became of each, and applies one again when told to', async () => {
      await collect()
      later()
      const pull = first('pullRequests')
      change({ edit: 'pullRequests', index: pull, with: { title: 'Once' } })
      const delivery = told('pullRequests', pull)
      const applied = await deliver(delivery, 'first')
      expect(applied).toMatchObject({
        plugin: 'github',
        kind: 'pull_request',
        deliveryId: 'first',
        scope: WEB,
        state: 'applied',
        isReplayable: true,
        effect: expect.stringMatching(new RegExp(`^Pull request ${pull} changed: \\d+ rows?\\.`)),
      })
      // When GitHub sends a delivery again, nothing happens and there is no second entry.
      expect((await receiver.send(place, signed(delivery, secret, 'first'))).body).toMatchObject({ id: applied.id })
      expect(await receiver.inbox(place)).toHaveLength(1)

      later()
      change({ edit: 'pullRequests', index: pull, with: { title: 'Twice' } })
      await deliver(told('pullRequests', pull), 'second')
      expect(await receiver.replay(place, applied.id)).toBe(200)
      await receiver.settled(place)
      const [, replayed] = await receiver.inbox(place)
      expect(replayed).toMatchObject({
        id: applied.id,
        state: 'ignored',
        effect: expect.stringMatching(/stored is newer/),
      })
      expect(await pullRequest(pull)).toMatchObject({ title: 'Twice' })
    })

    it('never puts an older record in the place of a newer one, nor one from before the last run', async () => {
      await collect()
      const pull = first('pullRequests')
      const kept: Delivery[] = []
      for (const title of ['one', 'two', 'three']) {
        later(1)
        change({ edit: 'pullRequests', index: pull, with: { title } })
        kept.push(told('pullRequests', pull))
      }
      expect((await deliver(kept[2] as Delivery)).state).toBe('applied')
      expect((await deliver(kept[0] as Delivery)).state).toBe('ignored')
      expect(await pullRequest(pull)).toMatchObject({ title: 'three' })
      later(30)
      await collect()
      expect((await deliver(kept[1] as Delivery)).effect).toMatch(/last collection began after it/)
      expect(await pullRequest(pull)).toMatchObject({ title: 'three' })
    })

    it('takes away again what no run confirms', async () => {
      await collect()
      later()
      const issue = change({ add: 'issues', with: { title: 'Short-lived' } })?.index as number
      const before = await carried()
      expect((await deliver(told('issues', issue))).state).toBe('applied')
      expect((await carried()).issues).toHaveLength((before.issues?.length ?? 0) + 1)
      change({ remove: 'issues', index: issue })
      later()
      await collect()
      const after = await carried()
      expect([after.issues, after.board_issues]).toEqual([before.issues, before.board_issues])
    })

    it('refuses what is not signed with the secret, keeps nothing of it, and does not fill the inbox with it', async () => {
      const delivery = signed(told('issues', first('issues')), 'another secret')
      const refused = await receiver.send(place, delivery)
      expect(refused).toMatchObject({
        status: 401,
        body: { success: false, message: expect.stringMatching(/not signed/) },
      })
      expect((await receiver.send(place, { ...delivery, headers: { 'x-github-event': 'issues' } })).status).toBe(401)
      const cut = signed(told('issues', first('issues')), secret)
      expect((await receiver.send(place, { ...cut, body: `${cut.body} ` })).status).toBe(401)
      for (let count = 0; count < 40; count++) await receiver.send(place, delivery)
      const all = await receiver.inbox(place)
      expect(all.length).toBeLessThanOrEqual(20)
      expect(all[0]).toMatchObject({ state: 'refused', status: 401, payload: '', isReplayable: false, kind: '' })
      expect(await receiver.replay(place, all[0].id)).toBe(400)
      // The old secret does not work after it was replaced.
      const old = secret
      secret = await receiver.newSecret(place)
      expect((await receiver.send(place, signed(told('issues', first('issues')), old))).status).toBe(401)
      expect(JSON.stringify(await receiver.inbox(place)) + receiver.api.log()).not.toContain(secret)
    })

    it('takes nothing without a secret, nor for a connection or source that is not there', async () => {
      const delivery = signed(told('issues', first('issues')), secret)
      const at = `/v1/plugins/github/connections/${place.connectionId}/deliveries`
      expect((await receiver.api.ask('GET', `${at}/setup`)).body).toMatchObject({
        address: at,
        secretSince: expect.any(String),
      })
      await receiver.api.ask('DELETE', `${at}/secret`)
      expect((await receiver.api.ask('GET', `${at}/setup`)).body.secretSince).toBeNull()
      const answers = [
        await receiver.send(place, delivery),
        await receiver.send({ ...place, connectionId: 9999 }, delivery),
        await receiver.send({ ...place, plugin: 'nothing' }, delivery),
        await receiver.send({ ...place, plugin: 'webhook' }, delivery),
      ]
      expect(new Set(answers.map(({ status, body }) => `${status} ${body.message}`)).size).toBe(1)
      expect(answers[0]).toMatchObject({
        status: 404,
        body: { message: expect.stringMatching(/an admin makes a secret/) },
      })
      expect(
        (await receiver.api.ask('POST', at.replace(`${place.connectionId}/`, '9999/').concat('/secret'))).status,
      ).toBe(404)
    })

    it('has an answer to whatever else comes', async () => {
      const repository = (told('issues', first('issues')) as any).payload.repository
      const outcomes: [Delivery, string, RegExp][] = [
        [{ event: 'ping', payload: { zen: 'Speak like a human.' } }, 'applied', /reaches this address/],
        [{ event: 'push', payload: { ref: 'refs/heads/main', repository } }, 'ignored', /the next run brings it/],
        [{ event: 'star', payload: { action: 'created', repository } }, 'ignored', /Nothing follows from star/],
        [{ event: 'issues', payload: { action: 'opened', issue: {} } }, 'ignored', /does not say which repository/],
        [told('issues', first('issues'), 'acme/api'), 'ignored', /acme\/api is no scope of this connection/],
        [
          { event: 'issues', payload: { action: 'deleted', issue: {}, repository } },
          'ignored',
          /a full sync takes it away/,
        ],
        [{ event: 'issues', payload: { action: 'opened', repository } }, 'failed', /another form than expected/],
      ]
      for (const [delivery, state, effect] of outcomes) {
        expect(await deliver(delivery)).toMatchObject({
          kind: delivery.event,
          state,
          effect: expect.stringMatching(effect),
        })
      }
      const broken = signed({ event: 'issues', payload: '{' }, secret)
      expect((await receiver.send(place, broken)).status).toBe(400)
      const form = `payload=${encodeURIComponent(JSON.stringify({ zen: 'x' }))}`
      const { headers } = signed({ event: 'ping', payload: 'x' }, secret)
      const signature = signatureOf(form, secret)
      const asForm = {
        ...headers,
        'x-hub-signature-256': signature,
        'content-type': 'application/x-www-form-urlencoded',
      }
      expect((await receiver.send(place, { body: form, headers: asForm })).status).toBe(202)
      expect((await receiver.settled(place)).state).toBe('applied')
    })

    it('waits for whoever collects the scope, and holds up nobody else', async () => {
      await addScope('acme/api')
      const membership = await joinServers(test.database, 'a task', LEASE_MS)
      const beating = setInterval(() => void membership.beat().catch(() => {}), 200)
      const leases = createLeases(test.database, () => ({ leaseHolder: 'a task', membership }))
      const name = `github ${place.connectionId} ${fake.world.repository(WEB).id}`
      const end = await leases.take(
        [name],
        { task_id: 1, pipeline_id: 1 },
        new AbortController().signal,
        async () => {},
      )
      const [web, api] = [told('issues', first('issues')), told('issues', first('issues'), 'acme/api')]
      await receiver.send(place, signed(web, secret, 'web'))
      await receiver.send(place, signed(api, secret, 'api'))
      const stateOf = async (id: string) =>
        (await receiver.inbox(place)).find(({ deliveryId }) => deliveryId === id).state
      while ((await stateOf('api')) === 'waiting') await new Promise((done) => setTimeout(done, 20))
      expect([await stateOf('api'), await stateOf('web')]).toEqual(['applied', 'waiting'])
      await end?.()
      clearInterval(beating)
      await membership.leave()
      await receiver.settled(place)
      expect(await stateOf('web')).toBe('applied')
    })

    it('applies what came while no runner was there', async () => {
      await receiver.rest()
      const sent = await receiver.send(place, signed(told('issues', first('issues')), secret))
      expect(sent).toMatchObject({ status: 202, body: { state: 'waiting' } })
      await receiver.run()
      expect((await receiver.settled(place)).state).toBe('applied')
    })
  })
}
