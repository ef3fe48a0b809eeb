/** Attention is told by cause: one sentence, one remedy, the raw errors below it, the most costly first. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readAttention } from '../../src/control-plane/attention/attention.ts'
import { updateRows } from '../../src/control-plane/store.ts'
import { write } from '../../src/database/write.ts'
import { projectPrMetrics } from '../../src/domain/crossdomain.ts'
import { cicdDeploymentCommits, cicdPipelines } from '../../src/domain/devops.ts'
import { pullRequestComments, pullRequests } from '../../src/domain/pull-requests.ts'
import { boardIssues, incidents, issues } from '../../src/domain/ticket.ts'
import { quarantine } from '../../src/plugin-kit/raw/quarantine.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import { pipelines } from '../../src/system/pipelines.ts'
import { startTestApi, type TestApi } from '../api/support/test-api.ts'
import { map } from '../metrics/workbench.ts'
import { describeEachDatabase } from '../support/databases.ts'

const DAY = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * DAY)

describeEachDatabase('what needs attention', (test) => {
  let api: TestApi
  let connectionId: number
  const causes = async () => (await api.ask('GET', '/v1/attention')).body.causes
  const ofKind = async (kind: string) => (await causes()).filter((each: any) => each.kind === kind)

  beforeAll(async () => {
    api = await startTestApi(test.database)
    const { body } = await api.ask('POST', '/plugins/github/connections', {
      name: 'main',
      endpoint: 'https://api.github.com/',
      authMethod: 'AccessToken',
      token: 'ghp_secret',
    })
    connectionId = body.id
    const scope = { githubId: 7, name: 'web', fullName: 'acme/web' }
    await api.ask('PUT', `/plugins/github/connections/${connectionId}/scopes`, { data: [scope] })
  })
  afterAll(() => api.close())

  it('a rule that maps nothing is one cause for all projects, and an unmapped place one of its own', async () => {
    const deployment = (id: string, scope: string, environment: string, original_environment = '') =>
      cicdDeploymentCommits.row({
        id,
        cicd_deployment_id: id,
        cicd_scope_id: scope,
        commit_sha: id,
        repo_url: 'https://code.test/web',
        result: 'SUCCESS',
        environment,
        original_environment,
        finished_date: ago(3),
      })
    const names = ['one', 'two', 'three', 'four', 'five']
    await write(test.database, [
      ...names.map((name) => map(name, 'cicd_scopes', `builds of ${name}`)),
      ...names.map((name) => cicdPipelines.row({ id: `b ${name}`, name: 'lint', cicd_scope_id: `builds of ${name}` })),
      map('mapped', 'cicd_scopes', 'mapped'),
      deployment('m1', 'mapped', 'PRODUCTION', 'prod'),
      deployment('m2', 'mapped', '', 'prod-eu-2'),
      deployment('m3', 'mapped', '', 'prod-eu-2'),
      deployment('m4', 'mapped', 'STAGING', 'staging'),
      map('unmapped', 'cicd_scopes', 'unmapped'),
      deployment('u1', 'unmapped', '', 'live'),
      map('unmapped', 'boards', 'board'),
      ...Array.from({ length: 7 }, (_, place) => [
        issues.row({ id: `i${place}`, original_type: 'Outage' }),
        boardIssues.row({ board_id: 'board', issue_id: `i${place}` }),
      ]).flat(),
    ])
    const found = await ofKind('rule')
    expect(found.map(({ sentence, cost }: any) => `${cost}: ${sentence}`)).toEqual([
      '7: No rule takes an issue of unmapped for an incident.',
      '5: No rule says which builds of five, four, one and 2 more are deployments.',
      '2: 2 deployments of mapped went to “prod-eu-2”, which no rule maps to production.',
      '1: No rule maps a deployment of unmapped to production.',
    ])
    const [incident, build, place] = found
    expect(incident).toMatchObject({ page: '/projects/unmapped?tab=blueprint' })
    expect(incident.details).toEqual([expect.stringMatching(/^unmapped: 7 issues were seen, .*issueTypeIncident/)])
    expect(build.details).toHaveLength(3)
    expect(build.page).toBe('/projects')
    expect(place.details).toEqual(['mapped: 2 deployments'])
    for (const { sentence, remedy } of found) expect(`${sentence} ${remedy}`).not.toMatch(/[a-z][A-Z]|_|`|[A-Z]{3}/)
    for (const table of ['project_mapping', 'cicd_deployment_commits', 'cicd_pipelines', 'board_issues', 'issues']) {
      await test.database.kysely.deleteFrom(table).execute()
    }
    expect(await causes()).toEqual([])
  })

  it('incidents that nobody resolved are one cause; one that belongs to two projects counts once', async () => {
    const incident = (id: string, days: number, resolution_date: Date | null = null) =>
      incidents.row({
        id,
        table: 'boards',
        scope_id: 'board',
        title: `outage ${id}`,
        created_date: ago(days),
        resolution_date,
      })
    await write(test.database, [
      map('one', 'boards', 'board'),
      map('two', 'boards', 'board'),
      incident('new', 2),
      incident('old', 30),
      incident('older', 40),
      incident('over', 50, ago(49)),
      // Nobody will resolve it any more, and no range of today holds it.
      incident('ancient', 900),
    ])
    expect(await ofKind('incident')).toMatchObject([
      {
        sentence: '2 incidents of one, two have been open for more than 7 days, the oldest for 40 d.',
        cost: 2,
        page: '/projects',
        details: expect.arrayContaining(['one: “outage older”, open for 40 d']),
      },
    ])
    for (const table of ['project_mapping', 'incidents']) await test.database.kysely.deleteFrom(table).execute()
  })

  it('changes that wait far longer than usual are told with what is usual, unless most are never found deployed', async () => {
    const change = (project_name: string, id: string, merged: number, minutes: number | null) => [
      pullRequests.row({ id, title: `change ${id}`, merged_date: ago(merged), base_repo_id: 'web' }),
      projectPrMetrics.row({
        project_name,
        id,
        pr_deploy_time: minutes,
        pr_deployed_date: minutes === null ? null : new Date(ago(merged).getTime() + minutes * 60_000),
      }),
    ]
    const deployed = (project: string, count: number) =>
      Array.from({ length: count }, (_, place) => change(project, `${project} ${place}`, 20 + place, 2 * 1440)).flat()
    await write(test.database, [
      ...deployed('shop', 5),
      ...change('shop', 'waits', 10, null),
      ...change('shop', 'waits longer', 12, null),
      ...change('shop', 'waits a bit', 3, null),
      ...deployed('squashed', 1),
      ...change('squashed', 's1', 30, null),
      ...change('squashed', 's2', 30, null),
    ])
    expect(await ofKind('waiting')).toMatchObject([
      {
        sentence: '2 merged changes of shop have waited for a deployment for up to 12 d; usual is 2 d.',
        cost: 2,
        page: '/projects/shop',
        details: ['“change waits longer”, merged 12 d ago', '“change waits”, merged 10 d ago'],
      },
    ])
    for (const table of ['project_pr_metrics', 'pull_requests']) await test.database.kysely.deleteFrom(table).execute()
  })

  it('open changes that nobody looked at are a cause if they wait far longer than usual', async () => {
    const open = (id: string, days: number) =>
      pullRequests.row({
        id,
        title: `change ${id}`,
        status: 'OPEN',
        created_date: ago(days),
        base_repo_id: 'web',
        author_id: 'ada',
      })
    const reviewed = Array.from({ length: 5 }, (_, place) => `done ${place}`)
    await write(test.database, [
      map('shop', 'repos', 'web'),
      ...reviewed.map((id) =>
        pullRequests.row({ id, title: id, status: 'MERGED', merged_date: ago(9), base_repo_id: 'web' }),
      ),
      ...reviewed.map((id) => projectPrMetrics.row({ project_name: 'shop', id, pr_pickup_time: 1440 })),
      open('forgotten', 12),
      open('talked about', 12),
      open('answered by its author alone', 8),
      open('young', 2),
      pullRequestComments.row({ id: 'c1', pull_request_id: 'talked about', account_id: 'bo' }),
      pullRequestComments.row({ id: 'c2', pull_request_id: 'answered by its author alone', account_id: 'ada' }),
    ])
    expect(await ofKind('waiting')).toMatchObject([
      {
        sentence: '2 open changes of shop have waited for a first review for up to 12 d; usual is 1 d.',
        details: ['“change forgotten”, opened 12 d ago', '“change answered by its author alone”, opened 8 d ago'],
      },
    ])
    for (const table of ['project_pr_metrics', 'pull_requests', 'pull_request_comments', 'project_mapping'] as const)
      await test.database.kysely.deleteFrom(table).execute()
  })

  it('a source that stands still is told once the runs of its schedule brought nothing', async () => {
    const { body: project } = await api.ask('POST', '/projects', { name: 'shop' })
    const connections = [{ pluginName: 'github', connectionId, scopes: [{ scopeId: '7' }] }]
    const { id } = project.blueprint
    await api.ask('PATCH', `/blueprints/${id}`, { connections, cronConfig: '0 0 * * *', isManual: false, enable: true })
    const plan = [[{ plugin: 'dora', options: { projectName: 'shop' } }]]
    const { body: run } = await api.ask('POST', '/pipelines', { name: 'nightly', plan, blueprintId: id })
    await updateRows(
      test.database.kysely,
      pipelines,
      { id: run.id },
      { status: 'TASK_COMPLETED', finished_at: new Date() },
    )
    const params = JSON.stringify({ ConnectionId: connectionId, Name: 'acme/web' })
    const arrived = (last_success_at: Date) =>
      write(test.database, [
        receipts.row({
          plugin: 'github',
          raw_table: '_raw_github_api_issues',
          params,
          status: 'complete',
          stored: 1234,
          last_success_at,
        }),
      ])
    await arrived(ago(2))
    expect(await ofKind('source')).toEqual([])
    await arrived(new Date('2026-01-14T12:00:00Z'))
    expect(await ofKind('source')).toMatchObject([
      {
        sentence: 'Nothing has arrived through GitHub connection main since 14 Jan 2026.',
        cost: 1234,
        page: `/sources/github/${connectionId}`,
        details: ['/projects/shop'],
      },
    ])
    await api.ask('PATCH', `/blueprints/${id}`, { enable: false })
    expect(await ofKind('source')).toEqual([])
  })

  it('records that were put aside are one cause for each source, whatever the errors', async () => {
    const params = JSON.stringify({ ConnectionId: connectionId, Name: 'acme/web' })
    const aside = (raw_id: number, reason: string) =>
      quarantine.row({
        plugin: 'github',
        subtask: 'extractIssues',
        raw_table: '_raw_github_api_issues',
        raw_id,
        record_key: '',
        params,
        reason,
      })
    await write(test.database, [aside(1, 'no date'), aside(2, 'no date'), aside(3, 'no title\nat line 2')])
    const [cause] = await ofKind('record')
    expect(cause).toMatchObject({
      sentence: '3 records of GitHub could not be read and were put aside.',
      cost: 3,
      details: ['no date', 'no title'],
    })
  })

  it('whoever sees one project sees the causes of that project alone', async () => {
    const asked = { from: ago(180), to: new Date(), environment: 'PRODUCTION' }
    await api.ask('POST', '/projects', { name: 'other' })
    const other = await readAttention(api.control.context, { ...asked, projects: ['other'] })
    expect(other).toEqual({ hasRun: false, runs: [], causes: [] })
    expect(await readAttention(api.control.context, { ...asked, projects: [] })).toEqual(other)
    const own = await readAttention(api.control.context, { ...asked, projects: ['shop'] })
    expect(own.causes.map(({ kind }) => kind)).toEqual(['record'])
    expect((await causes()).length).toBeGreaterThan(0)
  })
})
