/** One's own work: what waits, for whom, and where each change is. Nobody sees that of others. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/domain/code.ts'
import {
  projectIncidentDeploymentRelationships,
  projectMapping,
  projectPrMetrics,
} from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits } from '../../src/domain/devops.ts'
import { accounts, userAccounts, users } from '../../src/domain/people.ts'
import { pullRequestComments, pullRequestReviewers, pullRequests } from '../../src/domain/pull-requests.ts'
import { incidents } from '../../src/domain/ticket.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const DAY = 86_400_000
const NOW = Math.floor(Date.now() / 1000) * 1000
const ago = (days: number) => new Date(NOW - days * DAY)
const ADMIN = 'the-token-of-an-admin'

const pull = (id: string, author: string, more = {}) =>
  pullRequests.row({
    id,
    base_repo_id: 'r',
    title: `Change ${id}`,
    url: `https://code.example/${id}`,
    author_id: author,
    status: 'OPEN',
    created_date: ago(4),
    ...more,
  })
const merged = (id: string, author: string, days: number) =>
  pull(id, author, { status: 'MERGED', merged_date: ago(days), created_date: ago(days + 1) })
const asked = (id: string, account: string) => pullRequestReviewers.row({ pull_request_id: id, reviewer_id: account })
const answered = (id: string, account: string, days: number) =>
  pullRequestComments.row({ id: `${id} ${account}`, pull_request_id: id, account_id: account, created_date: ago(days) })
const arrived = (id: string, project_name: string, days: number | null) =>
  projectPrMetrics.row({
    id,
    project_name,
    pr_deployed_date: days === null ? null : ago(days),
    deployment_commit_id: days === null ? '' : 'commit of d',
  })
const incident = (id: string, more = {}) =>
  incidents.row({ id, title: `Incident ${id}`, table: 'boards', scope_id: 'b', created_date: ago(3), ...more })

describeEachDatabase('the own work of a person', (test) => {
  let api: TestApi
  let guarded: TestApi
  const mine = async (user: string) => (await api.ask('GET', `/v1/mine?user=${encodeURIComponent(user)}`)).body
  const ids = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

  beforeAll(async () => {
    api = await startTestApi(test.database)
    guarded = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: ADMIN })
    const people = ['ann', 'ben', 'eve']
    await write(test.database, [
      repos.row({ id: 'r', name: 'shop/web' }),
      ...['repos', 'cicd_scopes', 'boards'].map((table) =>
        projectMapping.row({
          project_name: 'shop',
          table,
          row_id: table === 'repos' ? 'r' : table === 'boards' ? 'b' : 's',
        }),
      ),
      ...people.map((name) => users.row({ id: `user ${name}`, name, email: `${name}@example.org` })),
      ...people.map((name) => accounts.row({ id: `acc ${name}`, user_name: name, full_name: name.toUpperCase() })),
      ...people.map((name) => userAccounts.row({ account_id: `acc ${name}`, user_id: `user ${name}` })),
      // A second account, known by its address alone.
      accounts.row({ id: 'acc ann 2', user_name: 'ann-work', email: 'ANN@example.org' }),
      pull('waits', 'acc ben', { created_date: ago(9) }),
      pull('answered', 'acc ben'),
      pull('closed', 'acc ben', { status: 'CLOSED', closed_date: ago(1) }),
      pull('younger', 'acc eve', { created_date: ago(2), is_draft: true }),
      ...['waits', 'answered', 'closed'].map((id) => asked(id, 'acc ann')),
      asked('younger', 'acc ann 2'),
      answered('answered', 'acc ann', 1),
      pull('own', 'acc ann', { created_date: ago(6) }),
      asked('own', 'acc ben'),
      asked('own', 'acc eve'),
      answered('own', 'acc eve', 5),
      answered('own', 'acc ann', 5.5),
      pull('alone', 'acc ann 2', { created_date: ago(5) }),
      merged('merged', 'acc ann', 3),
      merged('live', 'acc ann', 40),
      merged('long ago', 'acc ann', 50),
      arrived('merged', 'shop', null),
      arrived('live', 'shop', 2),
      arrived('live', 'other', 4),
      arrived('long ago', 'shop', 45),
      cicdDeploymentCommits.row({
        id: 'commit of d',
        cicd_deployment_id: 'd',
        cicd_scope_id: 's',
        commit_sha: 'x',
        repo_url: '',
      }),
      incident('caused'),
      incident('assigned', { assignee_id: 'acc ann 2', resolution_date: ago(1) }),
      incident('old', { assignee_id: 'acc ann', created_date: ago(60), resolution_date: ago(59) }),
      incident('foreign', { assignee_id: 'acc ben' }),
      projectIncidentDeploymentRelationships.row({ id: 'caused', project_name: 'shop', deployment_id: 'd' }),
    ])
  })
  afterAll(async () => {
    await api.close()
    await guarded.close()
  })

  it('tells what waits for a person, the longest first', async () => {
    const { name, accounts: own, waitsForMe } = await mine('ann@example.org')
    expect([name, own]).toEqual(['ann', ['acc ann', 'acc ann 2']])
    expect(waitsForMe).toMatchObject([
      { id: 'waits', author: 'BEN', since: ago(9).toISOString(), isDraft: false, repository: 'shop/web' },
      { id: 'younger', author: 'EVE', isDraft: true },
    ])
    expect(ids((await mine('ben')).waitsForMe)).toEqual(['own'])
  })

  it('tells what of a person waits, and for whom', async () => {
    const { waiting } = await mine('user ann')
    expect(waiting).toMatchObject([
      { id: 'own', answeredAt: ago(5).toISOString(), waitsFor: ['BEN'] },
      { id: 'alone', answeredAt: null, waitsFor: [] },
    ])
  })

  it('tells where each change is, and which incidents touch it', async () => {
    const { onTheWay, incidents: touching } = await mine('ann')
    expect(onTheWay).toMatchObject([
      { id: 'merged', project: null, deployedAt: null },
      { id: 'live', project: 'other', deployedAt: ago(4).toISOString() },
    ])
    expect(touching).toMatchObject([
      { id: 'caused', isAssigned: false, resolvedAt: null, changes: [{ id: 'live' }, { id: 'long ago' }] },
      { id: 'assigned', isAssigned: true, changes: [] },
    ])
  })

  it('nobody is found by accident, and nobody sees the page of somebody else', async () => {
    const refusal = async (on: TestApi, url: string, headers = {}) => {
      const { status, body } = await on.ask('GET', url, undefined, { headers })
      return [status, body.message]
    }
    expect(await refusal(api, '/v1/mine')).toEqual([400, expect.stringContaining('say who you are, as ?user=')])
    expect(await refusal(api, '/v1/mine?user=nobody')).toEqual([404, expect.stringContaining('No collected account')])
    expect((await refusal(api, '/v1/mine?user=%25'))[0]).toBe(404)
    await write(test.database, [users.row({ id: 'another', name: 'ben', email: 'other@example.org' })])
    expect(await refusal(api, '/v1/mine?user=ben')).toEqual([400, expect.stringContaining('another, user ben')])
    const token = { authorization: `Bearer ${ADMIN}` }
    expect(await refusal(guarded, '/v1/mine?user=ann', token)).toEqual([
      403,
      expect.stringContaining('sign in as a person'),
    ])
    expect((await refusal(guarded, '/v1/mine?user=ann'))[0]).toBe(401)
  })

  it('an admin switches personal views off, which is recorded', async () => {
    expect((await api.ask('GET', '/v1/personal-views')).body).toEqual({ isOn: true })
    expect((await api.ask('PUT', '/v1/personal-views', { isOn: false })).body).toEqual({ isOn: false })
    const { status, body } = await api.ask('GET', '/v1/mine?user=eve')
    expect([status, body.message]).toEqual([403, expect.stringContaining('An admin has switched personal views off')])
    const { body: audit } = await api.ask('GET', '/v1/audit?subject=personal views&pageSize=1')
    expect(audit.entries[0]).toMatchObject({ stateBefore: { isOn: true }, stateAfter: { isOn: false } })
    await api.ask('PUT', '/v1/personal-views', { isOn: true })
    expect((await api.ask('GET', '/v1/mine?user=eve')).status).toBe(200)
  })
})
