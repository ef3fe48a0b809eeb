/** Groups of projects, targets, and whose numbers the metrics give. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ownTargets, targetsOf } from '../../src/control-plane/groups/targets.ts'
import { wholeOf } from '../../src/control-plane/groups/whole.ts'
import { write } from '../../src/database/write.ts'
import { repos } from '../../src/domain/code.ts'
import { projectMapping, projectPrMetrics } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits } from '../../src/domain/devops.ts'
import { teams, teamUsers, userAccounts } from '../../src/domain/people.ts'
import { pullRequests } from '../../src/domain/pull-requests.ts'
import { metricNamed } from '../../src/metrics/index.ts'
import { readMetric } from '../../src/metrics/read/read.ts'
import { targetAnswer } from '../../src/metrics/targets.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'

const ADMIN = 'the-token-of-an-admin'
const SHOP = 'the-token-of-an-admin-in-shop'
const LONG = 'ü'.repeat(255)
const at = (day: number, hour = 0) => new Date(Date.UTC(2024, 0, day, hour))
const range = 'from=2024-01-01&to=2024-01-31'

describeEachDatabase('groups and targets', (test) => {
  let api: TestApi
  const as = (token: string, method: string, url: string, body?: unknown, headers = {}) =>
    api.ask(method, url, body, { headers: { authorization: `Bearer ${token}`, ...headers } })
  const ask = (method: string, url: string, body?: unknown, headers = {}) => as(ADMIN, method, url, body, headers)
  const group = (name: string) => `/v1/groups/${encodeURIComponent(name)}`
  const groupsNow = async () =>
    Object.fromEntries(
      (await ask('GET', '/v1/groups')).body.groups.map(({ name, parent, projects, allProjects }: any) => [
        name,
        [parent, projects, allProjects],
      ]),
    )
  const entries = async () => (await ask('GET', '/v1/audit?pageSize=1')).body.count

  beforeAll(async () => {
    const AUTH_TOKENS = `b:admin@shop:${SHOP}`
    api = await startTestApi(test.database, { AUTH: 'token', AUTH_TOKEN: ADMIN, AUTH_TOKENS })
    for (const name of ['shop', 'web', 'bank', 'mail']) {
      await ask('POST', '/projects', { name, blueprint: { isManual: true } })
    }
    const map = (project_name: string, table: string, row_id: string) =>
      projectMapping.row({ project_name, table, row_id })
    await write(test.database, [
      repos.row({ id: 'r1', name: 'one' }),
      repos.row({ id: 'r2', name: 'two' }),
      ...['shop', 'web'].map((project) => map(project, 'repos', 'r1')),
      map('bank', 'repos', 'r2'),
      map('shop', 'cicd_scopes', 's'),
      map('bank', 'cicd_scopes', 's'),
      ...[3, 10, 17].map((day) =>
        cicdDeploymentCommits.row({
          id: `c${day}`,
          cicd_deployment_id: `d${day}`,
          cicd_scope_id: 's',
          repo_url: 'u',
          commit_sha: `sha${day}`,
          result: 'SUCCESS',
          environment: 'PRODUCTION',
          started_date: at(day),
          finished_date: at(day, 1),
        }),
      ),
      ...['a', 'b', 'c'].flatMap((id, place) => [
        pullRequests.row({
          id,
          base_repo_id: id === 'c' ? 'r2' : 'r1',
          author_id: `account ${place}`,
          created_date: at(5),
          merged_date: at(6),
          status: 'MERGED',
        }),
      ]),
      ...[
        ['a', 'shop', 100],
        ['b', 'shop', 300],
        ['a', 'web', 150],
        ['c', 'bank', 200],
      ].map(([id, project_name, minutes]) =>
        projectPrMetrics.row({
          id: id as string,
          project_name: project_name as string,
          pr_cycle_time: minutes as number,
          pr_merged_date: at(6),
          pr_deployed_date: at(id === 'a' && project_name === 'web' ? 9 : 10),
          deployment_commit_id: 'c10',
        }),
      ),
      ...['small', 'large'].map((id) => teams.row({ id, name: `${id} team` })),
      ...[0, 1, 2, 3, 4].map((place) => userAccounts.row({ account_id: `account ${place}`, user_id: `user ${place}` })),
      ...[0, 1, 2, 3, 4].map((place) => teamUsers.row({ team_id: 'large', user_id: `user ${place}` })),
      ...[0, 1, 2, 3].map((place) => teamUsers.row({ team_id: 'small', user_id: `user ${place}` })),
    ])
  })
  afterAll(() => api.close())

  it('groups are created, nested, renamed and deleted, each change recorded', async () => {
    const before = await entries()
    const { body: company } = await ask('POST', '/v1/groups', { name: 'company', description: 'All of it' })
    expect(company).toMatchObject({ name: 'company', parent: null, projects: [], groups: [], allProjects: 0 })
    await ask('POST', '/v1/groups', { name: LONG, parent: 'company', projects: ['shop', 'web'] })
    const { body: inner } = await ask('POST', '/v1/groups', { name: 'inner', parent: LONG, projects: ['web', 'bank'] })
    expect(inner).toMatchObject({ within: [LONG, 'company'], projects: ['bank', 'web'], allProjects: 2 })
    expect((await ask('GET', group('company'))).body).toMatchObject({ groups: [LONG], allProjects: 3 })
    const { body: renamed } = await ask('PATCH', group(LONG), { name: 'a/b ü' })
    expect(renamed).toMatchObject({ name: 'a/b ü', groups: ['inner'], projects: ['shop', 'web'] })
    expect((await ask('GET', group('inner'))).body.within).toEqual(['a/b ü', 'company'])
    expect((await ask('DELETE', group('a/b ü'))).status).toBe(200)
    expect(await groupsNow()).toEqual({ company: [null, [], 2], inner: ['company', ['bank', 'web'], 2] })
    expect((await entries()) - before).toBe(5)
    const { body: audit } = await ask('GET', '/v1/audit?subject=group&pageSize=1')
    expect(audit.entries[0]).toMatchObject({ action: 'delete', subjectKey: 'a/b ü' })
  })

  it('a group that contains itself is refused with a sentence, and nothing changes', async () => {
    await ask('POST', '/v1/groups', { name: 'deep', parent: 'inner' })
    const state = await groupsNow()
    const refusals = [
      ['company', { parent: 'company' }, 'The group company cannot contain itself: choose another parent.'],
      [
        'company',
        { parent: 'deep', description: 'x' },
        'The group company would contain itself, because company contains inner contains deep: choose another parent for company.',
      ],
      ['inner', { parent: 'nobody' }, 'There is no group nobody'],
      ['inner', { projects: ['shop', 'shopp'] }, 'There is no project shopp'],
      ['inner', { name: 'deep' }, 'There is already a group deep: choose another name.'],
      ['inner', { name: 'x'.repeat(256) }, '255'],
      ['inner', { name: '..' }, 'name must not be . or ..'],
    ] as const
    for (const [name, change, message] of refusals) {
      const { status, body } = await ask('PATCH', group(name), change)
      expect([status, body.message]).toEqual([expect.any(Number), expect.stringContaining(message)])
      expect(status).toBeGreaterThanOrEqual(400)
    }
    expect((await ask('GET', group('nobody'))).status).toBe(404)
    expect((await ask('POST', '/v1/groups', { name: 'deep' })).status).toBe(400)
    expect(await groupsNow()).toEqual(state)
    const { updatedAt } = (await ask('GET', group('deep'))).body
    expect((await ask('PATCH', group('deep'), { description: 'one' }, { 'if-match': updatedAt })).status).toBe(200)
    expect((await ask('PATCH', group('deep'), { description: 'two' }, { 'if-match': updatedAt })).status).toBe(412)
    await ask('DELETE', group('deep'))
  })

  it('a file makes groups, completely or not at all, and reads back what it wrote', async () => {
    const csv = 'group,parent,project\ncompany,,\nlab,north,mail\nnorth,company,\n"=1+1",,shop\n'
    const { status, body } = await ask('PUT', '/v1/groups', { csv })
    expect([status, body]).toEqual([200, { created: ['lab', 'north', '=1+1'], changed: ['company'] }])
    expect(await groupsNow()).toMatchObject({
      lab: ['north', ['mail'], 1],
      company: [null, [], 3],
      '=1+1': [null, ['shop'], 1],
    })
    const { text } = await ask('GET', '/v1/groups?format=csv')
    const state = await groupsNow()
    expect((await ask('PUT', '/v1/groups', { csv: text })).body).toMatchObject({ created: [] })
    expect(await groupsNow()).toEqual(state)
    for (const [bad, message] of [
      ['group,parent\nx,y\ny,x\n', 'would contain itself'],
      ['group,parent\nx,company\nx,lab\n', 'line 3: the group x has another parent than in line 2'],
      ['group,project\nx,nobody\n', 'There is no project nobody'],
      ['group;project\nx;y\n', 'separate columns by commas'],
      ['group,colour\nx,red\n', 'unknown column "colour"'],
      ['parent,project\nx,y\n', 'lacks the column group'],
    ] as const) {
      const refused = await ask('PUT', '/v1/groups', { csv: bad })
      expect(refused.status, bad).toBeGreaterThanOrEqual(400)
      expect(refused.body.message).toContain(message)
    }
    expect(await groupsNow()).toEqual(state)
    for (const name of ['lab', 'north', '=1+1']) await ask('DELETE', group(name))
  })

  it('a project takes its groups and targets along when it is renamed, and leaves them when it is deleted', async () => {
    await ask('PATCH', group('inner'), { projects: ['bank', 'web', 'mail'] })
    await ask('PUT', '/v1/targets', { project: 'mail', metric: 'change-lead-time', value: 5 })
    await ask('PATCH', '/projects/mail', { name: 'post' })
    expect((await ask('GET', group('inner'))).body.projects).toEqual(['bank', 'post', 'web'])
    expect((await ask('GET', '/v1/targets?project=post')).body.targets).toHaveLength(1)
    await ask('DELETE', '/projects/post')
    expect((await ask('GET', group('inner'))).body.projects).toEqual(['bank', 'web'])
    expect(await ownTargets(test.database, { kind: 'project', name: 'post' })).toEqual([])
  })

  it('a target is set for a project, or inherited from the nearest group', async () => {
    const lead = { metric: 'change-lead-time' }
    await ask('PUT', '/v1/targets', { group: 'company', ...lead, value: 1440 })
    await ask('PUT', '/v1/targets', { group: 'company', metric: 'change-failure-rate', value: 0.15 })
    await ask('PUT', '/v1/targets', { group: 'inner', ...lead, value: 600 })
    const of = async (whose: string) =>
      (await ask('GET', `/v1/targets?${whose}`)).body.targets.map((each: any) => [
        each.metric,
        each.inWords,
        each.inheritedFrom,
      ])
    expect(await of('project=bank')).toEqual([
      ['change-failure-rate', '15 %', 'company'],
      ['change-lead-time', '10 h', 'inner'],
    ])
    expect(await of('project=shop')).toEqual([])
    const { body } = await ask('PUT', '/v1/targets', { project: 'bank', ...lead, value: 90 })
    expect(body.targets[1]).toMatchObject({ value: 90, inheritedFrom: null, setBy: 'access token' })
    expect(Date.now() - Date.parse(body.targets[1].setAt)).toBeLessThan(60_000)
    const target = (await targetsOf(test.database, { kind: 'project', name: 'bank' })).get('change-lead-time')!
    const metric = metricNamed('change-lead-time')
    expect(targetAnswer(metric, target, 60)).toMatchObject({ state: 'met', distance: -30, distanceInWords: '−30 min' })
    expect(targetAnswer(metric, target, 120)).toMatchObject({ state: 'missed', distance: 30 })
    expect(targetAnswer(metric, target, null)).toMatchObject({
      state: 'unknown',
      distance: null,
      inWords: '1 h 30 min',
    })
    const often = metricNamed('deployment-frequency')
    expect(targetAnswer(often, { ...target, value: 2 }, 3)).toMatchObject({ state: 'met' })
    expect(await of('group=inner')).toEqual([
      ['change-failure-rate', '15 %', 'company'],
      ['change-lead-time', '10 h', null],
    ])
    await ask('PUT', '/v1/targets', { project: 'bank', ...lead, value: null })
    expect((await of('project=bank'))[1]).toEqual(['change-lead-time', '10 h', 'inner'])
    expect((await targetsOf(test.database, { kind: 'all', name: null })).size).toBe(0)
  })

  it('a target that is no number, of no metric, or of nobody is refused', async () => {
    const before = await entries()
    const lead = { project: 'shop', metric: 'change-lead-time' }
    for (const [body, message] of [
      [{ ...lead, value: 'two days' }, 'value'],
      [{ ...lead, value: -1 }, 'value is no target of Change lead time: write a number from 0'],
      [{ ...lead, value: 1e13 }, 'value is no target'],
      [{ project: 'shop', metric: 'change-lead-tim', value: 1 }, 'did you mean change-lead-time'],
      [{ project: 'shopp', metric: 'change-lead-time', value: 1 }, 'There is no project shopp'],
      [{ group: 'compani', metric: 'change-lead-time', value: 1 }, 'There is no group compani'],
      [{ ...lead, group: 'company', value: 1 }, 'name one of the two'],
      [{ metric: 'change-lead-time', value: 1 }, 'name one of the two'],
    ] as const) {
      const { status, body: refused } = await ask('PUT', '/v1/targets', body)
      expect(status, message).toBeGreaterThanOrEqual(400)
      expect(refused.message).toContain(message)
    }
    expect(await entries()).toBe(before)
  })

  it('metrics are given for a project, a group, a team or all, an item of two projects once', async () => {
    const lead = async (whose: string) => {
      const { body } = await ask('GET', `/v1/metrics/change-lead-time?${range}&${whose}`)
      return [body.whose, body.project, body.values[0].value, body.values[0].counted]
    }
    expect(await lead('project=shop')).toEqual([{ kind: 'project', name: 'shop' }, 'shop', 100, 2])
    expect(await lead('project=web')).toEqual([{ kind: 'project', name: 'web' }, 'web', 150, 1])
    await ask('PATCH', group('company'), { projects: ['shop'] })
    // The change `a` is in shop and in web: it counts once, as it was deployed first.
    expect(await lead('group=company')).toEqual([{ kind: 'group', name: 'company' }, null, 200, 3])
    expect(await lead('all=true')).toEqual([{ kind: 'all', name: null }, null, 200, 3])
    expect(await lead('team=large team')).toEqual([{ kind: 'team', name: 'large team' }, null, 200, 3])
    expect(await lead('team=large&project=shop')).toEqual([{ kind: 'project', name: 'shop' }, 'shop', 100, 2])
    const { body: items } = await ask('GET', `/v1/metrics/change-lead-time/items?${range}&all=true&reason=counted`)
    expect(items.items.map((each: any) => [each.id, each.project, each.value])).toEqual([
      ['a', 'web', 150],
      ['b', 'shop', 300],
      ['c', 'bank', 200],
    ])
    const { body: series } = await ask('GET', `/v1/metrics/deployment-frequency/series?${range}&all=true&bucket=month`)
    expect(series.points.map((each: any) => each.counted)).toEqual([3])
    for (const part of ['explanation', 'policies']) {
      const { status, body } = await ask('GET', `/v1/metrics/deployment-frequency/${part}?${range}&group=company`)
      expect([status, body.whose.kind]).toEqual([200, 'group'])
    }
    const grouped = await ask('GET', `/v1/metrics/change-lead-time?${range}&group=company&groupBy=repository`)
    expect(grouped.body.values.map((each: any) => [each.name, each.counted])).toEqual([
      ['one', 2],
      ['two', 1],
    ])
    const whole = await wholeOf(
      test.database,
      { kind: 'group', name: 'company' },
      { environment: 'PRODUCTION', from: at(1), to: at(31) },
    )
    expect(await readMetric(test.database, metricNamed('change-lead-time'), whole)).toMatchObject({ value: 200 })
  })

  it('a request says whose numbers it wants, exactly once', async () => {
    for (const [whose, message] of [
      ['', 'name a project, a team or a group, or send all=true'],
      ['all=false', 'name a project, a team or a group, or send all=true'],
      ['project=shop&all=true', 'asks for project and all at once'],
      ['project=shop&group=company', 'asks for project and group at once'],
      ['group=nobody', 'There is no group nobody'],
      ['team=nobody', 'There is no team nobody'],
    ]) {
      const { status, body } = await ask('GET', `/v1/metrics/change-lead-time?${range}&${whose}`)
      expect(status).toBeGreaterThanOrEqual(400)
      expect(body.message).toContain(message)
    }
    await ask('POST', '/v1/groups', { name: 'empty' })
    const { body } = await ask('GET', `/v1/metrics/change-lead-time?${range}&group=empty`)
    expect(body.values[0]).toMatchObject({ value: null, counted: 0, total: 0, noData: { because: expect.any(String) } })
  })

  it('a team of fewer than five people has no numbers', async () => {
    const because = 'the team has fewer than 5 people, and Weir shows no numbers of so few'
    for (const whose of ['team=small', 'team=small&project=shop', 'team=small&all=1']) {
      const url = `/v1/metrics/pull-request-throughput`
      const { body } = await ask('GET', `${url}?${range}&${whose}`)
      expect(body.values).toMatchObject([{ value: null, counted: 0, total: 0, noData: { because } }])
      expect((await ask('GET', `${url}/items?${range}&${whose}`)).body).toMatchObject({ count: 0, items: [] })
      const { points } = (await ask('GET', `${url}/series?${range}&${whose}`)).body
      expect(points.every((each: any) => each.value === null && each.counted === 0)).toBe(true)
    }
    const { body } = await ask('GET', `/v1/metrics/pull-request-throughput?${range}&all=1&groupBy=team`)
    expect(body.values.map((each: any) => [each.group, each.value])).toEqual([
      ['large', 3],
      ['small', null],
    ])
  })

  it('a role in one project reaches its numbers and targets, and no group', async () => {
    const status = async (method: string, url: string, body?: unknown) => (await as(SHOP, method, url, body)).status
    expect(await status('GET', `/v1/metrics/change-lead-time?${range}&project=shop`)).toBe(200)
    for (const whose of ['project=web', 'group=company', 'all=true', 'team=large', 'project=shop&group=company']) {
      expect(await status('GET', `/v1/metrics/change-lead-time?${range}&${whose}`), whose).toBeGreaterThanOrEqual(400)
    }
    expect(await status('GET', `/v1/metrics/change-lead-time?${range}&all=true`)).toBe(403)
    expect(await status('GET', '/v1/targets?project=shop')).toBe(200)
    expect(await status('GET', '/v1/targets?group=company')).toBe(403)
    expect(await status('PUT', '/v1/targets', { project: 'shop', metric: 'change-lead-time', value: 7 })).toBe(200)
    expect(await status('PUT', '/v1/targets', { group: 'company', metric: 'change-lead-time', value: 7 })).toBe(403)
    expect(await status('GET', '/v1/groups')).toBe(403)
    expect(await status('POST', '/v1/groups', { name: 'mine' })).toBe(403)
  })
})
