/** Data that tools push: connections and their keys, deployments, pull requests, issues and incidents. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { describeEachWithTables } from '../support/databases.ts'
import { startTestApi, type TestApi } from './support/test-api.ts'
import {
  BASE,
  DONE,
  deployment,
  FAILED,
  issue,
  pullRequest,
  REFUSED,
  SHA,
  URL,
  webhookClient,
} from './support/webhook-client.ts'

describeEachWithTables('webhook', (test) => {
  let api: TestApi
  beforeAll(async () => {
    api = await startTestApi(test.database)
  })
  afterAll(() => api.close())

  const { connect, rowsOf, countOf, expectDone } = webhookClient(
    () => api,
    () => test.database,
  )

  it('creates, shows, renames and deletes connections, each with a key of its own', async () => {
    expect((await api.ask('GET', '/plugins')).body.map(({ plugin }: any) => plugin)).toContain('webhook')
    expect((await api.ask('GET', `${BASE}/connections`)).body).toEqual([])
    const created = await connect('ci / cd')
    const { id } = created
    const path = `/rest/plugins/webhook/connections/${id}`
    expect(created).toEqual({
      id,
      name: 'ci / cd',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      postIssuesEndpoint: `${path}/issues`,
      closeIssuesEndpoint: `${path}/issue/:issueKey/close`,
      postPullRequestsEndpoint: `${path}/pull_requests`,
      postPipelineTaskEndpoint: `${path}/cicd_tasks`,
      postPipelineDeployTaskEndpoint: `${path}/deployments`,
      closePipelineEndpoint: `${path}/cicd_pipeline/:pipelineName/finish`,
      apiKey: expect.objectContaining({
        name: `webhook-${id}`,
        type: 'plugin:webhook',
        extra: `connectionId:${id}`,
        expiredAt: null,
        allowedPath: `/plugins/webhook/connections/${id}/.*`,
        apiKey: expect.stringMatching(/^[A-Za-z0-9]{128}$/),
      }),
    })
    const { apiKey: plain, ...key } = created.apiKey
    const shown = { ...created, apiKey: key }
    const byName = `${BASE}/connections/by-name/ci%20%2F%20cd`
    expect((await api.ask('GET', `${BASE}/connections`)).body).toEqual([shown])
    expect((await api.ask('GET', `${BASE}/connections/${id}`)).body).toEqual(shown)
    expect((await api.ask('GET', byName)).body).toEqual(shown)
    expect((await api.ask('GET', '/api-keys')).body.count).toBe(0)
    expect(JSON.stringify(await rowsOf('_devlake_api_keys', {}))).not.toContain(plain)

    const renamed = await api.ask('PATCH', byName, { NAME: 'ci' })
    expect(renamed.body).toEqual({
      id,
      name: 'ci',
      createdAt: created.createdAt,
      updatedAt: expect.any(String),
    })
    for (const table of ['cicd_scopes', 'boards', 'repos']) {
      expect(await rowsOf(table, { id: `webhook:${id}` })).toMatchObject([{ name: 'ci' }])
    }
    expect((await api.ask('PATCH', `${BASE}/connections/${id}`, {})).body.name).toBe('ci')
    const other = await connect('other')

    for (const [method, url, body, status] of [
      ['POST', '/connections', { name: 'ci' }, 400],
      ['POST', '/connections', {}, 400],
      ['POST', '/connections', { name: 'x'.repeat(101) }, 400],
      ['PATCH', `/connections/${id}`, { name: 'other' }, 400],
      ['PATCH', '/connections/99', { name: 'x' }, 404],
      ['GET', '/connections/99', undefined, 404],
      ['GET', '/connections/none', undefined, 400],
      ['GET', '/connections/by-name/none', undefined, 404],
      ['GET', `/connections/by-name/${'x'.repeat(101)}`, undefined, 400],
      ['PATCH', '/connections/by-name/none', { name: 'x' }, 404],
      ['DELETE', '/connections/99', undefined, 404],
      ['DELETE', '/connections/by-name/none', undefined, 404],
    ] as const) {
      expect(await api.ask(method, BASE + url, body), `${method} ${url}`).toMatchObject({ status, body: FAILED })
    }

    expect((await api.ask('DELETE', `${BASE}/connections/by-name/ci`)).body).toEqual(DONE)
    expect((await api.ask('DELETE', `${BASE}/connections/${other.id}`)).body).toEqual(DONE)
    expect((await api.ask('GET', `${BASE}/connections`)).body).toEqual([])
    expect(await countOf('_devlake_api_keys')).toBe(0)
    const { body: audit } = await api.ask('GET', '/v1/audit?subject=webhook%20connection')
    expect(audit.entries.map(({ action }: any) => action)).toEqual([
      'delete',
      'delete',
      'create',
      'update',
      'update',
      'create',
    ])
    expect(JSON.stringify((await api.ask('GET', '/v1/audit')).body)).not.toContain(plain)
    expect(api.log()).not.toContain(plain)
  })

  it('leaves no connection behind whose key could not be made', async () => {
    const { id } = await connect('first')
    const name = `webhook-${id + 1}`
    await api.ask('POST', '/api-keys', { name, type: 'devlake', allowedPath: '/projects' })
    expect(await api.ask('POST', `${BASE}/connections`, { name: 'second' })).toMatchObject({
      status: 400,
      body: FAILED,
    })
    expect((await api.ask('GET', `${BASE}/connections`)).body).toMatchObject([{ name: 'first' }])
  })

  it('opens the paths of its connection to its key, and no others', async () => {
    const { id, apiKey } = await connect('keyed')
    const { id: other } = await connect('not keyed')
    const push = (path: string, key: string | undefined = apiKey.apiKey) =>
      api.ask('POST', `/rest${BASE}${path}`, deployment('keyed-1'), { headers: { authorization: `Bearer ${key}` } })
    expect(await push(`/connections/${id}/deployments`)).toMatchObject({ status: 200, body: DONE })
    for (const path of [
      `/connections/${other}/deployments`,
      `/connections/${id}0/deployments`,
      `/${id}/deployments`,
      '/connections/by-name/keyed/deployments',
      `/connections/${id}`,
    ]) {
      expect(await push(path), path).toMatchObject({ status: 403, body: REFUSED })
    }
    const renewed = (await api.ask('PUT', `/api-keys/${apiKey.id}`)).body
    expect((await push(`/connections/${id}/deployments`)).status).toBe(403)
    expect((await push(`/connections/${id}/deployments`, renewed.apiKey)).status).toBe(200)
    await api.ask('DELETE', `${BASE}/connections/${id}`)
    expect((await push(`/connections/${id}/deployments`, renewed.apiKey)).status).toBe(403)
  })

  it('takes deployments: one row however often it is told, with the defaults of what is left out', async () => {
    const { id } = await connect('deployments')
    const pushed = deployment('build 7', { createdDate: null, STATUS: 'DONE', unknown: { kept: true } })
    await expectDone(`${BASE}/connections/${id}/deployments`, pushed)
    await expectDone(`${BASE}/${id}/deployments`, pushed)
    await expectDone(`${BASE}/connections/by-name/deployments/deployments`, pushed)

    const scope = `webhook:${id}`
    const started = new Date(pushed.startedDate)
    const finished = new Date(pushed.finishedDate)
    const shared = {
      cicd_scope_id: scope,
      result: 'SUCCESS',
      status: 'DONE',
      environment: 'PRODUCTION',
      created_date: started,
      started_date: started,
      finished_date: finished,
      duration_sec: 600,
      subtask_name: '',
      _raw_data_table: '_raw_webhook_deployments',
      _raw_data_params: JSON.stringify({ ConnectionId: id }),
    }
    expect(await rowsOf('cicd_deployments', { cicd_scope_id: scope })).toMatchObject([
      { ...shared, id: 'build 7', name: `deploy ${SHA} to PRODUCTION` },
    ])
    const [commit, ...more] = await rowsOf('cicd_deployment_commits', { cicd_scope_id: scope })
    expect(more).toEqual([])
    expect(commit).toMatchObject({
      ...shared,
      id: `${scope}:build 7:4bc4f4f07dccb231:${SHA}`,
      cicd_deployment_id: 'build 7',
      name: `deployment for ${SHA}`,
      repo_url: URL,
      commit_sha: SHA,
      ref_name: 'main',
    })
    const raw = await rowsOf('_raw_webhook_deployments', { params: shared._raw_data_params })
    expect(raw.map(({ url }) => url)).toEqual([
      `${BASE}/connections/${id}/deployments`,
      `${BASE}/${id}/deployments`,
      `${BASE}/connections/by-name/deployments/deployments`,
    ])
    expect(JSON.parse(raw[0].data.toString())).toEqual({
      ...pushed,
      createdDate: undefined,
      STATUS: undefined,
      status: 'DONE',
    })
    expect(commit._raw_data_id).toBe(raw[2].id)

    const second = { ...pushed.deploymentCommits[0], commitSha: 'b'.repeat(40), result: 'FAILURE', name: 'half' }
    await expectDone(
      `${BASE}/connections/${id}/deployments`,
      deployment('build 7', { result: 'FAILURE', environment: 'STAGING', name: 'n', deploymentCommits: [second] }),
    )
    expect(await rowsOf('cicd_deployments', { cicd_scope_id: scope })).toMatchObject([
      { result: 'FAILURE', environment: 'STAGING', name: 'n' },
    ])
    expect(await rowsOf('cicd_deployment_commits', { cicd_scope_id: scope, name: 'half' })).toMatchObject([
      { result: 'FAILURE', environment: 'STAGING' },
    ])
  })

  it('counts a deployment that failed for each of its commits that says nothing else', async () => {
    const { id } = await connect('failed deployments')
    const [first] = deployment('').deploymentCommits
    const told = { ...first, commitSha: 'c'.repeat(40), result: 'SUCCESS', status: 'DONE' }
    const failed = { result: 'FAILURE', status: 'IN_PROGRESS', deploymentCommits: [first, told] }
    await expectDone(`${BASE}/connections/${id}/deployments`, deployment('build 8', failed))
    const rows = await rowsOf('cicd_deployment_commits', { cicd_scope_id: `webhook:${id}` })
    expect(rows.map(({ commit_sha, result, status }: any) => [commit_sha, result, status]).sort()).toEqual([
      ['c'.repeat(40), 'SUCCESS', 'DONE'],
      [SHA, 'FAILURE', 'IN_PROGRESS'],
    ])
  })

  it('takes pull requests', async () => {
    const { id } = await connect('pull requests')
    const pushed = pullRequest(12, { status: 'OPEN', baseRepoId: 'elsewhere', isDraft: 'true', additions: '7' })
    await expectDone(`${BASE}/connections/${id}/pull_requests`, pushed)
    const merged = {
      ...pushed,
      status: 'MERGED',
      mergedDate: new Date().toISOString(),
      isDraft: false,
      mergeCommitSha: SHA,
    }
    await expectDone(`${BASE}/${id}/pull_requests`, merged)
    await expectDone(`${BASE}/connections/by-name/pull%20requests/pull_requests`, merged)
    expect(await rowsOf('pull_requests', { base_repo_id: `webhook:${id}` })).toMatchObject([
      {
        id: `webhook:${id}:12`,
        pull_request_key: 12,
        title: 'Faster search',
        status: 'MERGED',
        merged_date: new Date(merged.mergedDate),
        merge_commit_sha: SHA,
        additions: 7,
        is_draft: false,
      },
    ])
  })

  it('takes issues; incidents show at once, and go when the issue is none any more', async () => {
    const { id } = await connect('issues')
    const at = (key: string) => `webhook:${id}:${key}`
    const pushed = issue('SHOP-1', {
      type: 'Incident',
      assigneeId: 'ada',
      assigneeName: 'Ada',
      creatorId: 'bob',
      parentIssueKey: 'SHOP-0',
      storyPoint: 2.5,
      url: 'https://example.org/SHOP-1',
    })
    await expectDone(`${BASE}/connections/${id}/issues`, pushed)
    await expectDone(`${BASE}/connections/by-name/issues/issues`, pushed)
    const shared = {
      id: at('SHOP-1'),
      title: 'Issue SHOP-1',
      status: 'TODO',
      original_status: 'created',
      created_date: new Date(pushed.createdDate),
      resolution_date: null,
      lead_time_minutes: null,
      assignee_id: at('ada'),
      creator_id: at('bob'),
    }
    expect(await rowsOf('issues', { id: at('SHOP-1') })).toMatchObject([
      {
        ...shared,
        issue_key: 'SHOP-1',
        type: 'INCIDENT',
        original_type: 'Incident',
        parent_issue_id: at('SHOP-0'),
        story_point: 2.5,
      },
    ])
    expect(await rowsOf('board_issues', { board_id: `webhook:${id}` })).toMatchObject([{ issue_id: at('SHOP-1') }])
    expect(await rowsOf('incidents', { id: at('SHOP-1') })).toMatchObject([
      { ...shared, incident_key: 'SHOP-1', table: 'boards', scope_id: `webhook:${id}` },
    ])
    expect(await rowsOf('incident_assignees', { incident_id: at('SHOP-1') })).toMatchObject([
      { assignee_id: at('ada'), assignee_name: 'Ada' },
    ])

    const resolutionDate = new Date(Date.parse(pushed.createdDate) + 90_000).toISOString()
    await expectDone(`${BASE}/${id}/issues`, { ...pushed, type: 'BUG', status: 'DONE', resolutionDate })
    expect(await rowsOf('issues', { id: at('SHOP-1') })).toMatchObject([
      { type: 'BUG', status: 'DONE', lead_time_minutes: 1, resolution_date: new Date(resolutionDate) },
    ])
    expect(await rowsOf('incidents', { id: at('SHOP-1') })).toEqual([])
    expect(await rowsOf('incident_assignees', { incident_id: at('SHOP-1') })).toEqual([])
    await expectDone(`${BASE}/${id}/issues`, { ...pushed, resolutionDate, leadTimeMinutes: 77 })
    expect(await rowsOf('incidents', { id: at('SHOP-1') })).toMatchObject([{ lead_time_minutes: 77 }])
  })

  it('closes issues, with the moment and the lead time', async () => {
    const { id } = await connect('closing')
    const before = new Date()
    for (const [key, close] of [
      ['A-1', `${BASE}/connections/${id}/issue/A-1/close`],
      ['A/2', `${BASE}/${id}/issue/A%2F2/close`],
      ['A-3', `${BASE}/connections/by-name/closing/issue/A-3/close`],
    ] as const) {
      await expectDone(`${BASE}/connections/${id}/issues`, issue(key, { type: 'INCIDENT', priority: 'high' }))
      await expectDone(close)
      const where = { id: `webhook:${id}:${key}` }
      for (const table of ['issues', 'incidents']) {
        const [row] = await rowsOf(table, where)
        expect(row).toMatchObject({ status: 'DONE', original_status: '', priority: 'high' })
        expect(row.resolution_date.getTime()).toBeGreaterThanOrEqual(before.getTime())
        expect(row.lead_time_minutes).toBe(Math.floor((row.resolution_date - row.created_date) / 60_000))
      }
      const [closed] = await rowsOf('issues', where)
      await expectDone(close)
      expect((await rowsOf('issues', where))[0].resolution_date).toEqual(closed.resolution_date)
    }
    const close = `${BASE}/connections/${id}/issue/nothing/close`
    expect(await api.ask('POST', close)).toMatchObject({ status: 404, body: FAILED })
    expect(await api.ask('POST', `${BASE}/connections/99/issue/A-1/close`)).toMatchObject({ status: 404, body: FAILED })
  })

  it('says what to change, and stores nothing of what it refuses', async () => {
    const { id } = await connect('refused')
    const tables = ['_raw_webhook_deployments', '_raw_webhook_issues', '_raw_webhook_pull_requests', '_weir_quarantine']
    const before = await Promise.all(tables.map(countOf))
    const [commit] = deployment('x').deploymentCommits
    const commits = (changes: object) => deployment('x', { deploymentCommits: [commit, { ...commit, ...changes }] })
    const { title: _title, ...untitled } = issue('X')
    for (const [path, body, says] of [
      ['deployments', deployment(''), 'id: must not be empty.'],
      ['deployments', deployment('x'.repeat(151)), 'id: must be at most 150 characters.'],
      ['deployments', deployment('x', { startedDate: undefined }), 'startedDate is missing: add it.'],
      ['deployments', deployment('x', { finishedDate: 'soon' }), 'finishedDate: must be a time such as'],
      ['deployments', deployment('x', { environment: 'MOON' }), 'environment must be PRODUCTION or STAGING or'],
      ['deployments', deployment('x', { deploymentCommits: [] }), 'deploymentCommits: must have at least one element.'],
      ['deployments', deployment('x', { deploymentCommits: undefined }), 'deploymentCommits is missing: add it.'],
      ['deployments', commits({ repoUrl: '' }), 'deploymentCommits.1.repoUrl: must not be empty.'],
      ['deployments', commits({ commitSha: undefined }), 'deploymentCommits.1.commitSha is missing: add it.'],
      ['deployments', commits({ createdDate: '0001-01-01T00:00:00+09:00' }), 'createdDate: '],
      ['deployments', '{"id":', 'The body is not JSON'],
      ['deployments', [], 'the body must be an object.'],
      ['issues', untitled, 'title is missing: add it.'],
      ['issues', issue('X', { status: 'OPEN' }), 'status must be TODO or IN_PROGRESS or DONE.'],
      ['issues', issue('X', { originalStatus: '' }), 'originalStatus: must not be empty.'],
      ['issues', issue('X', { createdDate: 5 }), 'createdDate must be text.'],
      ['issues', issue('X', { storyPoint: 'many' }), 'storyPoint'],
      ['issues', undefined, 'issueKey is missing: add it.'],
      ['pull_requests', pullRequest(0), 'pullRequestKey: must not be 0.'],
      ['pull_requests', pullRequest(1, { displayTitle: null }), 'displayTitle is missing: add it.'],
      ['pull_requests', pullRequest(1, { status: 'DRAFT' }), 'status must be OPEN or MERGED or CLOSED.'],
      ['pull_requests', pullRequest(1, { additions: 1.5 }), 'additions'],
    ] as const) {
      const answer = await api.ask('POST', `${BASE}/connections/${id}/${path}`, body)
      expect(answer, `${path} ${says}`).toMatchObject({ status: 400, body: FAILED })
      expect(answer.body.message).toContain(says)
    }
    for (const [path, body] of [
      ['deployments', deployment('x')],
      ['issues', issue('X')],
      ['pull_requests', pullRequest(1)],
    ] as const) {
      for (const place of ['/connections/99', '/99', '/connections/by-name/nobody']) {
        expect(await api.ask('POST', `${BASE}${place}/${path}`, body)).toMatchObject({ status: 404, body: FAILED })
      }
    }
    expect(await Promise.all(tables.map(countOf))).toEqual(before)
  })

  it('takes many messages at once, none lost', async () => {
    const { id } = await connect('busy')
    const keys = Array.from({ length: 30 }, (_, index) => `B-${index % 10}`)
    await Promise.all(
      keys.map((key, index) => expectDone(`${BASE}/connections/${id}/issues`, issue(key, { title: String(index) }))),
    )
    const params = JSON.stringify({ ConnectionId: id })
    const raw = await rowsOf('_raw_webhook_issues', { params })
    expect(raw).toHaveLength(30)
    const issues = await rowsOf('issues', { _raw_data_params: params })
    expect(issues).toHaveLength(10)
    for (const { _raw_data_id, title, issue_key } of issues) {
      const last = raw.findLast(({ data }) => JSON.parse(data.toString()).issueKey === issue_key)
      expect([_raw_data_id, title]).toEqual([last.id, JSON.parse(last.data.toString()).title])
    }
  })
})
