/** Small cases by hand: each policy, the preview of rules, and the API. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TableRow } from '../../src/database/table.ts'
import { write } from '../../src/database/write.ts'
import { commitParents, commits, repoCommits, repos } from '../../src/domain/code.ts'
import { projectMapping } from '../../src/domain/crossdomain.ts'
import { cicdPipelineCommits, cicdPipelines, cicdScopes, cicdTasks } from '../../src/domain/devops.ts'
import { pullRequestCommits, pullRequests } from '../../src/domain/pull-requests.ts'
import { boardIssues, boards, issues } from '../../src/domain/ticket.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { calculate } from './calculate.ts'

const at = (day: number, hour = 0) => new Date(Date.UTC(2024, 0, day, hour))
const email = 'dev@example'

/** A line of commits c1 … c8. Production got c3, c5 and c7, one per day. */
function world(): TableRow[] {
  const rows: TableRow[] = [
    repos.row({ id: 'repo', name: 'repo', url: 'https://code.example/repo' }),
    boards.row({ id: 'board' }),
    cicdScopes.row({ id: 'scope', name: 'Shop' }),
    ...(['repos', 'boards', 'cicd_scopes'] as const).map((table) =>
      projectMapping.row({
        project_name: 'shop',
        table,
        row_id: { repos: 'repo', boards: 'board', cicd_scopes: 'scope' }[table],
      }),
    ),
  ]
  const messages: Record<number, string> = { 4: 'Squashed work (#4)', 5: 'Rebased', 6: 'Straight to trunk' }
  for (let number = 1; number <= 8; number++) {
    const sha = `c${number}`
    rows.push(
      commits.row({ sha, message: messages[number] ?? 'Work', authored_date: at(number, 1), author_email: email }),
      repoCommits.row({ repo_id: 'repo', commit_sha: sha }),
    )
    if (number > 1) rows.push(commitParents.row({ commit_sha: sha, parent_commit_sha: `c${number - 1}` }))
  }
  const request = (key: number, merge: string, author = 'ann') =>
    pullRequests.row({
      id: `pr${key}`,
      base_repo_id: 'repo',
      pull_request_key: key,
      title: `Change ${key}`,
      author_name: author,
      author_id: author,
      created_date: at(key, 2),
      merged_date: at(key, 4),
      merge_commit_sha: merge,
      url: `https://code.example/repo/pull/${key}`,
    })
  rows.push(
    request(3, 'c3'),
    request(4, 'squashed away'),
    request(5, 'rebased away'),
    request(7, 'c7', 'dependabot[bot]'),
    pullRequestCommits.row({
      pull_request_id: 'pr4',
      commit_sha: 'x4',
      commit_authored_date: at(4, 1),
      commit_author_email: '',
    }),
    pullRequestCommits.row({
      pull_request_id: 'pr5',
      commit_sha: 'x5',
      commit_authored_date: at(5, 1),
      commit_author_email: email,
    }),
  )
  for (const number of [3, 5, 7]) {
    const id = `run ${number}`
    const dates = {
      created_date: at(number, 6),
      started_date: at(number, 6),
      finished_date: at(number, 7),
      duration_sec: 3600,
    }
    rows.push(
      cicdPipelines.row({ id, name: `pipeline ${number}`, cicd_scope_id: 'scope', result: 'SUCCESS', ...dates }),
      cicdPipelineCommits.row({
        pipeline_id: id,
        commit_sha: `c${number}`,
        repo_url: 'https://code.example/repo',
        repo_id: 'repo',
      }),
      cicdTasks.row({
        id: `${id} job`,
        name: number === 5 ? 'ship to production' : 'deploy to production',
        pipeline_id: id,
        cicd_scope_id: 'scope',
        result: 'SUCCESS',
        type: 'DEPLOYMENT',
        environment: 'PRODUCTION',
        ...dates,
      }),
    )
  }
  const incident = (id: string, created: Date, component: string) => [
    issues.row({
      id,
      issue_key: id,
      type: 'INCIDENT',
      original_type: 'outage',
      created_date: created,
      resolution_date: new Date(created.getTime() + 3_600_000),
      lead_time_minutes: 60,
      component,
    }),
    boardIssues.row({ board_id: 'board', issue_id: id }),
  ]
  rows.push(...incident('i1', at(5, 8), 'shop'), ...incident('i2', at(20), 'billing'))
  return rows
}

describeEachWithTables('metrics, by hand', (test) => {
  let api: TestApi
  const range = 'project=shop&from=2024-01-01T00:00:00Z&to=2024-01-31T00:00:00Z'
  const get = async (path: string) => {
    const { status, body } = await api.ask('GET', `/v1/metrics/${path}${path.includes('?') ? '&' : '?'}${range}`)
    expect([path, status]).toEqual([path, 200])
    return body
  }
  const reasons = (body: any) => Object.fromEntries(body.leftOut.map((each: any) => [each.reason, each.count]))

  beforeAll(async () => {
    api = await startTestApi(test.database)
    await write(test.database, world())
    await calculate(test.database, 'shop')
  })
  afterAll(() => api.close())

  it('by DevLake: the first deployment claims nothing, squashes are lost, bots count', async () => {
    const body = await get('change-lead-time/explanation?policy=reference')
    // pr7: no known commit, created to merged 120 minutes, merged to finished 180.
    expect(body).toMatchObject({ value: 300, counted: 1, total: 4 })
    expect(reasons(body)).toEqual({ only_in_first_deployment: 1, merge_commit_in_no_deployment: 2 })
    expect(body.grades).toEqual([])
    expect(body.noGrade.because).toMatch(/^\d deployments in \d weeks? are too few; a grade needs at least 10 /)
  })

  it('policies repair it, and one call compares them', async () => {
    const { policies } = await get('change-lead-time/policies')
    const shown = Object.fromEntries(
      policies.map((each: any) => [each.policy, [each.value, each.counted, each.differing]]),
    )
    expect(shown).toEqual({
      reference: [300, 1, 0],
      'every-row': [300, 1, 0],
      // pr3: 120 + 180.
      'first-deployment': [300, 2, 1],
      // pr4 by its number: 60 + 120 + (5 Jan 07:00 - 4 Jan 04:00 = 1620); pr5 by author and date: 60 + 120 + 180.
      'squash-and-rebase': [360, 3, 2],
      // c4, c5 and c6 belong to no pull request by sha: 1800, 360 and 1800 minutes from authoring to deployment.
      'trunk-based': [360, 4, 3],
      'no-bots': [null, 0, 1],
      'blame-window': [300, 1, 0],
      'blame-by-service': [300, 1, 0],
      'service-report': [300, 1, 0],
    })
  })

  it('incidents are blamed as the policy says', async () => {
    // i1 is blamed on the second deployment. i2, two weeks later and of another service, is blamed on the third.
    const { policies } = await get('change-failure-rate/policies')
    const shown = Object.fromEntries(policies.map((each: any) => [each.policy, Math.round(each.value * 3)]))
    expect(shown).toMatchObject({ reference: 2, 'blame-window': 1, 'blame-by-service': 1, 'service-report': 2 })
    const recovery = await get('failed-deployment-recovery-time/explanation?policy=blame-window')
    expect(recovery).toMatchObject({ value: 120, counted: 1, total: 2 })
    expect(reasons(recovery)).toEqual({ no_deployment_before_incident: 1 })
  })

  it('names what is behind an item: the commit, the repository, and which deployment led to which incident', async () => {
    const { items } = await get('change-failure-rate/items?reason=against')
    expect(items.map(({ id, incidents }: any) => [id, incidents.map((each: any) => each.id)])).toEqual([
      ['run 5', ['i1']],
      ['run 7', ['i2']],
    ])
    expect(items[0]).toMatchObject({
      value: 1,
      repositoryName: 'repo',
      commit: { sha: 'c5', title: 'Rebased' },
      incidents: [{ table: 'incidents', id: 'i1', title: 'i1' }],
      deployment: null,
      isResolved: null,
    })
    expect(await get('change-failure-rate/explanation')).toMatchObject({ against: 2, counted: 3 })
    // All deployments that count. The remaining one led to no incident.
    const { items: all } = await get('change-failure-rate/items?reason=counted')
    expect(all.map(({ id, incidents }: any) => [id, incidents.length])).toEqual([
      ['run 3', 0],
      ['run 5', 1],
      ['run 7', 1],
    ])
    const recovered = await get('failed-deployment-recovery-time/items?reason=counted')
    expect(recovered.items).toMatchObject([
      { id: 'i1', isResolved: true, deployment: { table: 'cicd_deployments', id: 'run 5' }, incidents: [] },
      { id: 'i2', isResolved: true, deployment: { id: 'run 7' } },
    ])
    // The policy decides the attribution. If nothing is attributed, the incidents themselves are listed.
    const { items: windowed } = await get('change-failure-rate/items?reason=against&policy=blame-window')
    expect(windowed.map(({ id }: any) => id)).toEqual(['run 5'])
    const { items: ofService } = await get('change-failure-rate/items?reason=against&policy=service-report')
    expect(ofService.map(({ id, kind }: any) => [kind, id])).toEqual([
      ['incident', 'i1'],
      ['incident', 'i2'],
    ])
    // For a share that is better when higher, failed items count against it. Here there are none.
    expect((await get('build-success-rate/items?reason=against')).items).toEqual([])
    expect((await get('change-lead-time/explanation')).against).toBeNull()
    expect(await api.ask('GET', `/v1/metrics/change-lead-time/items?${range}&reason=against`)).toMatchObject({
      status: 400,
      body: { message: 'Nothing counts against change-lead-time, which is no share: leave reason=against out.' },
    })
  })

  it('a project keeps its own policy', async () => {
    await api.ask('POST', '/projects', {
      name: 'shop',
      metrics: [{ pluginName: 'dora', pluginOption: { policy: { excludeBots: true } }, enable: true }],
    })
    const body = await get('change-lead-time/explanation')
    expect(body.value).toBeNull()
    expect(reasons(body)).toMatchObject({ bot_author: 1 })
  })

  it('answers values by group, series, rows and CSV', async () => {
    expect((await get('deployment-frequency?groupBy=environment')).values).toMatchObject([
      { group: 'PRODUCTION', counted: 3 },
    ])
    expect((await get('change-failure-rate?groupBy=repository&policy=reference')).values).toMatchObject([
      { group: 'repo', counted: 3 },
    ])
    expect((await get('change-failure-rate?groupBy=team')).values).toEqual([])
    const { points } = await get('deployment-frequency/series?bucket=week')
    expect(points.map((each: any) => [each.start.slice(0, 10), each.value])).toEqual([
      ['2024-01-01', 3],
      ['2024-01-08', 0],
      ['2024-01-15', 0],
      ['2024-01-22', 0],
      ['2024-01-29', 0],
    ])
    const { items } = await get('change-lead-time/items?reason=only_in_first_deployment&policy=reference')
    expect(items).toMatchObject([
      { id: 'pr3', url: 'https://code.example/repo/pull/3', reason: 'only_in_first_deployment' },
    ])
    const csv = await api.ask(
      'GET',
      `/v1/metrics/change-lead-time/items?${range}&reason=counted&policy=reference&format=csv`,
    )
    expect(csv.headers['content-type']).toContain('text/csv')
    expect(csv.text.split('\r\n')).toEqual([
      'kind,id,at,value,reason,title,url,repository,account,rawTable,rawParams,rawId,repositoryName,accountName,project',
      expect.stringMatching(/^pull_request,pr7,2024-01-07T07:00:00.000Z,300,,Change 7,/),
      '',
    ])
    expect((await api.ask('GET', '/v1/metrics')).body.map((each: any) => each.name)).toContain('rework-rate')
  })

  it('refuses what it cannot answer', async () => {
    const ask = (path: string) => api.ask('GET', `/v1/metrics/${path}`)
    expect(await ask(`nothing?${range}`)).toMatchObject({
      status: 404,
      body: { message: expect.stringMatching(/no metric nothing. There are: /) },
    })
    expect((await ask('change-lead-time')).status).toBe(400)
    expect(await ask('change-lead-time?project=shop&from=2024-02-01&to=2024-01-01')).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/runs backwards/) },
    })
    expect((await ask(`change-lead-time?${range}&policy=mine`)).status).toBe(400)
  })

  it('previews rules without saving anything', async () => {
    const before = await get('deployment-frequency?policy=reference')
    const preview = await api.ask('POST', '/v1/metrics/rule-preview', {
      project: 'shop',
      from: '2024-01-01T00:00:00Z',
      to: '2024-01-31T00:00:00Z',
      rules: { deploymentPattern: '(?i)^deploy', issueTypeIncident: 'nothing', productionPattern: 'production' },
    })
    expect(preview.status).toBe(200)
    const effects = Object.fromEntries(preview.body.effects.map((each: any) => [each.rule, each]))
    expect(effects.deploymentPattern).toMatchObject({
      matching: 2,
      starting: 0,
      stopping: 1,
      samples: { stopping: [{ table: 'cicd_tasks', id: 'run 5 job', name: 'ship to production' }] },
    })
    expect(effects.issueTypeIncident).toMatchObject({ matching: 0, starting: 0, stopping: 2 })
    expect(effects.productionPattern).toMatchObject({ matching: 3, starting: 0, stopping: 0 })
    const keys = Object.fromEntries(preview.body.keys.map((each: any) => [each.metric, each]))
    expect([keys['deployment-frequency'].before.counted, keys['deployment-frequency'].after.counted]).toEqual([3, 2])
    expect([keys['change-failure-rate'].before.value, keys['change-failure-rate'].after.value]).toEqual([2 / 3, 0])
    // Uses the project's own policy, which the previous test has set: pr7 is by a bot.
    expect([keys['change-lead-time'].before.value, keys['change-lead-time'].after.value]).toEqual([null, null])
    expect(await get('deployment-frequency?policy=reference')).toEqual(before)
    // Rules by types instead of labels, and only for the scopes of one connection.
    const typed = (more: object) =>
      api.ask('POST', '/v1/metrics/rule-preview', {
        project: 'shop',
        from: '2024-01-01T00:00:00Z',
        to: '2024-01-31T00:00:00Z',
        rules: { typeMappings: { 'no such type': { standardType: 'INCIDENT' } } },
        ...more,
      })
    const { effects: ofTypes } = (await typed({})).body
    expect(ofTypes.find(({ rule }: any) => rule === 'typeMappings.INCIDENT')).toMatchObject({
      matching: 0,
      stopping: 2,
    })
    expect((await typed({ connection: { plugin: 'jira', id: 1 } })).body.effects).toEqual([])
    expect((await typed({ connection: { plugin: 'none', id: 1 } })).status).toBe(404)
    expect(
      await api.ask('POST', '/v1/metrics/rule-preview', { project: 'shop', rules: { deploymentPattern: '(' } }),
    ).toMatchObject({ status: 400, body: { message: expect.stringMatching(/deploymentPattern.*does not compile/) } })
  })
})
