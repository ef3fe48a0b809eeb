/** Names from the source and from the database that rules can use, the rules that they suggest, and matches of patterns. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { write } from '../../src/database/write.ts'
import { deployments } from '../../src/plugins/github/entities/deployments.ts'
import { issueLabels, issues } from '../../src/plugins/github/entities/issues.ts'
import { runs } from '../../src/plugins/github/entities/runs.ts'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../fake-circleci/fake-circleci.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { type FakeJira, startFakeJira, USER } from '../fake-jira/fake-jira.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { create, refused } from './support/contract.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const ODD = `مرحبا 🚀 a/b%c 'quoted' \\d`
const match = (pattern: string, names: readonly string[]) => ({ pattern, names })

describeEachWithTables('names and patterns', (test) => {
  let api: TestApi
  let github: FakeGithub
  let jira: FakeJira
  let circleci: FakeCircleci
  let connectionId: number
  beforeAll(async () => {
    ;[github, jira, circleci] = await Promise.all([
      startFakeGithub({
        world: {
          repositories: [
            { name: 'acme/web', issues: 2, pullRequests: 1, workflowRuns: 2, deployments: 3 },
            { name: 'acme/api', issues: 0, pullRequests: 0, workflowRuns: 0, deployments: 0 },
          ],
        },
      }),
      startFakeJira(),
      startFakeCircleci(2),
    ])
    api = await startTestApi(test.database)
    const settings = { name: 'main', endpoint: `${github.url}/`, token: DEFAULT_TOKEN }
    connectionId = (await create(api, '/plugins/github/connections', settings)).id
  })
  afterAll(async () => {
    await api.close()
    await Promise.all([github.stop(), jira.stop(), circleci.stop()])
  })
  const names = async (plugin: string, id: number, more = '') => {
    const { status, body, text } = await api.ask('GET', `/v1/names?plugin=${plugin}&connectionId=${id}${more}`)
    expect(status, text).toBe(200)
    return {
      ...body,
      of: (kind: string) =>
        Object.fromEntries(
          body.kinds.find((each: any) => each.kind === kind).names.map(({ name, count }: any) => [name, count]),
        ),
      suggested: (field: string) => body.suggestions.find((each: any) => each.field === field),
    }
  }

  it('has nothing to tell of a connection without scopes, and suggests what is usual', async () => {
    const found = await names('github', connectionId)
    expect(found).toMatchObject({ basis: 'nothing', scopes: 0, problem: null })
    expect(found.kinds.map(({ kind }: any) => kind)).toContain('environments')
    expect(found.suggested('envNamePattern')).toEqual({
      field: 'envNamePattern',
      value: '(?i)prod(.*)',
      reason: 'No environments are known yet; this is usual.',
      isFound: false,
    })
  })

  it('asks the source for some names before anything is collected', async () => {
    for (const index of [1, 2]) {
      github.update({ repository: 'acme/web', edit: 'deployments', index, with: { environment: 'live' } })
    }
    github.update({ repository: 'acme/web', edit: 'deployments', index: 3, with: { environment: 'staging' } })
    const [first] = [...github.world.repository('acme/web').issues]
    github.update({ repository: 'acme/web', edit: 'issues', index: first!.number, with: { labels: ['outage', ODD] } })
    const { body } = await api.ask('GET', `/plugins/github/connections/${connectionId}/remote-scopes?groupId=acme`)
    const data = body.children.map((child: any) => child.data)
    expect((await api.ask('PUT', `/plugins/github/connections/${connectionId}/scopes`, { data })).status).toBe(200)
    const before = github.requests.entries.length
    const found = await names('github', connectionId)
    expect(found).toMatchObject({ basis: 'sample', scopes: 2, problem: null })
    expect(github.requests.entries.length - before).toBeLessThanOrEqual(6)
    expect(found.of('environments')).toEqual({ live: 2, staging: 1 })
    expect(found.of('issueLabels')).toMatchObject({ outage: 1, [ODD]: 1 })
    expect(Object.keys(found.of('workflows')).length).toBeGreaterThan(0)
    expect(found.suggested('envNamePattern')).toMatchObject({ value: '(?i)^live$', reason: 'live (2) looks like it.' })
    expect(found.suggested('issueTypeIncident')).toMatchObject({ value: '(?i)^outage$' })
    // GitHub has deployments of its own, so builds need not be read as deployments.
    expect(found.suggested('deploymentPattern')).toMatchObject({
      value: '',
      reason: expect.stringContaining('Not needed'),
    })
  })

  it('tells what it got and why not all when the source refuses', async () => {
    const { id } = await create(api, '/plugins/github/connections', {
      name: 'refused',
      endpoint: `${github.url}/`,
      token: `ghp_${'nope'.repeat(9)}`,
    })
    await api.ask('PUT', `/plugins/github/connections/${id}/scopes`, {
      data: [{ githubId: 7, name: 'web', fullName: 'acme/web' }],
    })
    const found = await names('github', id)
    expect(found).toMatchObject({ basis: 'nothing', problem: expect.stringMatching(/\w/) })
    expect(JSON.stringify(found)).not.toContain('nope')
  })

  it('counts stored names, of all scopes or of those with a scope config', async () => {
    const { body: config } = await api.ask('POST', `/plugins/github/connections/${connectionId}/scope-configs`, {
      name: 'of web',
    })
    const { body } = await api.ask('GET', `/plugins/github/connections/${connectionId}/scopes`)
    const [one, other] = body.scopes.map(({ scope }: any) => Number(scope.githubId))
    const own = { connection_id: connectionId }
    const issue = { ...own, github_created_at: new Date(), github_updated_at: new Date() }
    await write(test.database, [
      deployments.row({ ...own, id: 'a', github_id: one, environment: 'production' }),
      deployments.row({ ...own, id: 'b', github_id: one, environment: 'prod-eu' }),
      deployments.row({ ...own, id: 'c', github_id: other, environment: 'production' }),
      deployments.row({ ...own, id: 'd', github_id: other, environment: '' }),
      deployments.row({ ...own, connection_id: 99, id: 'a', github_id: one, environment: 'of another' }),
      runs.row({ ...own, repo_id: one, id: 1, name: 'deploy' }),
      runs.row({ ...own, repo_id: one, id: 2, name: 'build' }),
      issues.row({ ...issue, github_id: 1, repo_id: one }),
      issues.row({ ...issue, github_id: 2, repo_id: other }),
      issueLabels.row({ ...own, issue_id: 1, label_name: 'incident' }),
      issueLabels.row({ ...own, issue_id: 2, label_name: 'incident' }),
      issueLabels.row({ ...own, issue_id: 2, label_name: ODD }),
    ])
    const all = await names('github', connectionId)
    expect(all).toMatchObject({ basis: 'stored' })
    expect(all.of('environments')).toEqual({ production: 2, 'prod-eu': 1 })
    expect(all.of('issueLabels')).toEqual({ incident: 2, [ODD]: 1 })
    expect(all.suggested('envNamePattern')).toMatchObject({
      value: '(?i)prod(.*)',
      reason: 'Matches production (2) and prod-eu (1).',
    })
    // A scope config that nothing uses yet counts the names of all scopes.
    expect((await names('github', connectionId, `&scopeConfigId=${config.id}`)).of('environments')).toEqual(
      all.of('environments'),
    )
    await api.ask('PATCH', `/plugins/github/connections/${connectionId}/scopes/${other}`, { scopeConfigId: config.id })
    const some = await names('github', connectionId, `&scopeConfigId=${config.id}`)
    expect(some.of('environments')).toEqual({ production: 1 })
    expect(some.of('issueLabels')).toEqual({ incident: 1, [ODD]: 1 })
    expect(some.of('workflows')).toEqual({})
    const { pattern } = some.kinds
      .find(({ kind }: any) => kind === 'issueLabels')
      .names.find(({ name }: any) => name === ODD)
    expect((await api.ask('POST', '/v1/patterns/match', match(pattern, [ODD, `${ODD}!`]))).body).toEqual({
      matches: [true, false],
      problem: null,
    })
    await sql`delete from ${sql.table(deployments.name)}`.execute(test.database.kysely)
    expect((await names('github', connectionId)).suggested('deploymentPattern')).toMatchObject({
      value: '(?i)^deploy$',
      reason: 'deploy (1) looks like it.',
    })
  })

  it('knows types, statuses and fields of Jira, and what they probably mean', async () => {
    const { id } = await create(api, '/plugins/jira/connections', { name: 'j', endpoint: jira.url, ...USER })
    jira.createIssue({ type: 'Bug' } as any)
    await api.ask('PUT', `/plugins/jira/connections/${id}/scopes`, { data: [{ boardId: 5, name: 'Board' }] })
    const found = await names('jira', id)
    expect(found.basis).toBe('sample')
    expect(Object.keys(found.of('types'))).toContain('Story')
    const { names: statuses } = found.kinds.find(({ kind }: any) => kind === 'statuses')
    expect(statuses).toContainEqual(expect.objectContaining({ name: 'Open', group: 'new' }))
    expect(found.suggested('typeMappings')).toMatchObject({
      value: { Story: { standardType: 'REQUIREMENT' } },
      reason: expect.stringContaining('none of them looks like an incident'),
    })
    expect(found.suggested('storyPointField')).toMatchObject({ value: 'customfield_10016' })
  })

  it('knows workflows of CircleCI', async () => {
    const settings = { name: 'c', endpoint: circleci.url, token: TOKEN }
    const { id } = await create(api, '/plugins/circleci/connections', settings)
    const data = [{ id: 'id-web', slug: 'github/acme/web', name: 'web' }]
    await api.ask('PUT', `/plugins/circleci/connections/${id}/scopes`, { data })
    const found = await names('circleci', id)
    expect(found.of('workflows')).toEqual({ deploy: null })
    expect(found.suggested('deploymentPattern')).toMatchObject({ value: '(?i)deploy', reason: 'Matches deploy.' })
    expect(found.suggested('productionPattern')).toMatchObject({ reason: 'Matches deploy.' })
  })

  it('matches as rules do, and says where a pattern is wrong', async () => {
    const ask = async (pattern: string, texts: readonly string[] = []) =>
      (await api.ask('POST', '/v1/patterns/match', match(pattern, texts))).body
    expect(await ask('(?i)prod', ['Production', 'staging', 'my-prod'])).toEqual({
      matches: [true, false, true],
      problem: null,
    })
    expect(await ask('', ['a'])).toEqual({ matches: [false], problem: null })
    expect(await ask('de(ploy', ['deploy'])).toEqual({
      matches: [false],
      problem: { message: 'missing closing )', at: 2 },
    })
    expect(await ask('(?=x)', [])).toMatchObject({ problem: { at: 0, message: expect.stringMatching(/\w/) } })
    const long = 'a'.repeat(1000)
    expect((await ask('(a*)*(a*)*b', Array(200).fill(long))).matches).toEqual(Array(200).fill(false))
  })

  it('refuses what it cannot answer', async () => {
    await refused(api, ['GET', `/v1/names?plugin=none&connectionId=1`], 404)
    await refused(api, ['GET', `/v1/names?plugin=webhook&connectionId=1`], 400)
    await refused(api, ['GET', `/v1/names?plugin=github&connectionId=999`], 404)
    await refused(api, ['GET', `/v1/names?plugin=github`], 400)
    await refused(api, ['GET', `/v1/names?plugin=github&connectionId=${connectionId}&scopeConfigId=x`], 400)
    await refused(api, ['POST', '/v1/patterns/match', match('a', Array(1001).fill('a'))], 400)
    await refused(api, ['POST', '/v1/patterns/match', match('a'.repeat(10_001), [])], 400)
    await refused(api, ['POST', '/v1/patterns/match', { pattern: 'a' }], 400)
  })
})
