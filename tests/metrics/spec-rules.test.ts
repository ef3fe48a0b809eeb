/** The two rules of the specification over HTTP: production by branch, with or without an environment name, and incidents by text. */
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type LiveServer, startLiveServer } from '../api/support/live-server.ts'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { describeEachWithTables } from '../support/databases.ts'

const DAY = 86_400_000
const at = (days: number) => `${new Date(Date.now() - days * DAY).toISOString().slice(0, 19)}Z`
const repository = 'acme/web'
/** Every run is called CI. */
const RUNS = [
  { branch: 'main', job: 'deploy' },
  { branch: 'develop', job: 'deploy' },
  { branch: 'main', job: 'test' },
  { branch: 'maintenance', job: 'deploy' },
  { branch: 'main', job: 'deploy' },
  { branch: 'develop', job: 'test' },
] as const
const ISSUES = [
  { title: 'Docs tell nothing of the outage', labels: ['kind/bug'], body: '' },
  { title: 'Outage of the shop', labels: [], body: '' },
  { title: 'Nothing loads', labels: [], body: 'It began as an outage of the cache.' },
  { title: 'Add a page', labels: [], body: 'About us' },
]

async function plant(): Promise<FakeGithub> {
  const amounts = { issues: ISSUES.length, pullRequests: 0, workflowRuns: RUNS.length, commits: 5 }
  const github = await startFakeGithub({
    world: {
      from: at(60),
      until: at(1),
      repositories: [{ name: repository, ...amounts, jobsPerRun: 1, deployments: 0, releases: 0, commentsPerIssue: 0 }],
    },
  })
  const world = github.world.repository(repository)
  // Jobs change before the runs, because a change of a job changes its run.
  const byRun = [...world.runs].map(({ index }) => index)
  for (const job of [...world.jobs]) {
    const { job: name = '' } = RUNS[byRun.indexOf(job.runIndex)] ?? {}
    const done = { status: 'completed' as const, conclusion: 'success' }
    github.update({ repository, edit: 'jobs', index: job.index, with: { name, ...done } })
  }
  for (const [index, run] of [...world.runs].entries()) {
    const { branch = '' } = RUNS[index] ?? {}
    const times = { createdAt: at(40 - index), startedAt: at(40 - index), updatedAt: at(39.9 - index) }
    const done = { status: 'completed' as const, conclusion: 'success' }
    github.update({
      repository,
      edit: 'runs',
      index: run.index,
      with: { name: 'CI', headBranch: branch, ...done, ...times },
    })
  }
  for (const [index, { number }] of [...world.issues].entries()) {
    const times = { createdAt: at(30 - index), closedAt: at(29 - index), updatedAt: at(29 - index) }
    github.update({ repository, edit: 'issues', index: number, with: { ...ISSUES[index], state: 'closed', ...times } })
  }
  return github
}

describeEachWithTables('the rules of the specification', (test) => {
  let github: FakeGithub
  let server: LiveServer
  let config: string
  let blueprintId: number
  const ask = async (method: string, path: string, body?: unknown) => {
    const answer = await server.ask(method, path, body)
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer.body
  }
  const rows = async (statement: string) => (await sql.raw(statement).execute(test.database.kysely)).rows as any[]
  const preview = async (rules: object) => {
    const { effects, keys } = await ask('POST', '/v1/metrics/rule-preview', { project: 'shop', rules })
    return {
      effect: (rule: string) => effects.find((each: any) => each.rule === rule),
      key: (metric: string) => keys.find((each: any) => each.metric === metric),
    }
  }
  /** Saves the rules, runs the project, and returns the branches whose runs are production deployments. */
  const run = async (rules: object) => {
    await ask('PATCH', config, rules)
    const { id } = await ask('POST', `/blueprints/${blueprintId}/trigger`, {})
    // The stream of events ends with the run.
    await (await fetch(`${server.url}/v1/pipelines/${id}/events`)).text()
    expect((await ask('GET', `/pipelines/${id}`)).status).toBe('TASK_COMPLETED')
    const deployed = await rows(`select ref_name from cicd_deployment_commits
      where environment = 'PRODUCTION' order by ref_name`)
    return deployed.map(({ ref_name }) => ref_name)
  }
  const types = async () => (await rows('select type from issues order by created_date')).map(({ type }) => type)
  const counted = async (metric: string) =>
    (await ask('GET', `/v1/metrics/${metric}?project=shop`)).values[0] as { counted: number; value: number }

  beforeAll(async () => {
    github = await plant()
    server = await startLiveServer(test.url)
    const settings = { name: 'main', endpoint: `${github.url}/`, token: DEFAULT_TOKEN }
    const { id: connectionId } = await ask('POST', '/plugins/github/connections', settings)
    const base = `/plugins/github/connections/${connectionId}`
    const rules = { name: 'rules', entities: ['CICD', 'TICKET'], issueTypeBug: '^kind/bug$' }
    const { id } = await ask('POST', `${base}/scope-configs`, rules)
    config = `${base}/scope-configs/${id}`
    const { children } = await ask('GET', `${base}/remote-scopes?groupId=acme`)
    const data = children.map((child: any) => ({ ...child.data, scopeConfigId: id }))
    await ask('PUT', `${base}/scopes`, { data })
    const scopes = data.map(({ githubId }: any) => ({ scopeId: String(githubId) }))
    const { blueprint } = await ask('POST', '/projects', {
      name: 'shop',
      metrics: [{ pluginName: 'dora', pluginOption: {}, enable: true }],
      blueprint: { connections: [{ pluginName: 'github', connectionId, scopes }] },
    })
    blueprintId = blueprint.id
    expect(await run({})).toEqual([])
  }, 180_000)
  afterAll(async () => {
    await server?.stop()
    await github?.stop()
  })

  it('a pattern of branches alone makes every run on them a production deployment', { timeout: 180_000 }, async () => {
    const rules = { productionBranchPattern: '^main$' }
    const { effect, key } = await preview(rules)
    expect(effect('productionBranchPattern')).toMatchObject({ matching: 3, starting: 3, stopping: 0 })
    expect(key('deployment-frequency').after.counted).toBe(3)
    expect(await run(rules)).toEqual(['main', 'main', 'main'])
    expect((await counted('deployment-frequency')).counted).toBe(3)
  })

  it('a job counts by its name on the branch of its run', { timeout: 180_000 }, async () => {
    const rules = { deploymentPattern: '^deploy$', productionBranchPattern: '^main$' }
    const { key } = await preview(rules)
    expect(key('deployment-frequency').after.counted).toBe(2)
    expect(await run(rules)).toEqual(['main', 'main'])
    const elsewhere = await rows(
      `select ref_name from cicd_deployment_commits where environment = '' order by ref_name`,
    )
    expect(elsewhere.map(({ ref_name }) => ref_name)).toEqual(['develop', 'maintenance'])
  })

  it('the text of an issue makes it an incident, unless a label says what it is', { timeout: 180_000 }, async () => {
    expect(await types()).toEqual(['BUG', '', '', ''])
    const rules = { issueTextIncident: '(?i)\\boutage\\b' }
    const { effect, key } = await preview(rules)
    expect(effect('issueTextIncident')).toMatchObject({
      matching: 2,
      starting: 2,
      stopping: 0,
      samples: { starting: expect.arrayContaining([expect.objectContaining({ name: 'Outage of the shop' })]) },
    })
    await run(rules)
    expect(await types()).toEqual(['BUG', 'INCIDENT', 'INCIDENT', ''])
    expect(await rows('select title from incidents order by created_date')).toEqual([
      { title: 'Outage of the shop' },
      { title: 'Nothing loads' },
    ])
    const failures = await counted('change-failure-rate')
    expect(failures.value).toBe(0.5)
    expect(key('change-failure-rate').after.value).toBe(failures.value)
    // A preview of saved rules changes nothing. Rows that were pushed to the project do not change either.
    const again = await ask('POST', '/v1/metrics/rule-preview', { project: 'shop', rules })
    for (const { metric, before, after } of again.keys) expect(after, metric).toEqual(before)
    expect(again.save).toMatchObject([{ plugin: 'github', rules }])
    expect((await counted('failed-deployment-recovery-time')).counted).toBe(2)
    // Suggestions come from collected names.
    const { body } = await server.ask('GET', '/v1/names?plugin=github&connectionId=1')
    const suggested = (field: string) => body.suggestions.find((each: any) => each.field === field)
    expect(suggested('issueTextIncident')).toMatchObject({ value: '(?i)\\b(outage)\\b', isFound: true })
    expect(suggested('productionBranchPattern')).toMatchObject({
      value: '(?i)^main$',
      reason: 'main (3) looks like it.',
    })
  })

  it('without the rules everything is as before, and the preview says so first', { timeout: 180_000 }, async () => {
    const none = { deploymentPattern: '', productionBranchPattern: '', issueTextIncident: '' }
    const { effect } = await preview(none)
    expect(effect('issueTextIncident')).toMatchObject({ matching: 0, stopping: 2 })
    expect(effect('productionBranchPattern')).toMatchObject({ matching: 0, stopping: 2 })
    expect(await run(none)).toEqual([])
    expect(await types()).toEqual(['BUG', '', '', ''])
    expect(await rows('select id from incidents')).toEqual([])
    const { findings, places } = await ask('GET', '/v1/metrics/deployment-frequency/explanation?project=shop')
    expect(findings[0].cure.rules).toContain('productionBranchPattern')
    expect(findings[0].remedy).toContain('`main` (3)')
    expect(places[0].rules).toEqual(expect.arrayContaining(['productionBranchPattern', 'issueTextIncident']))
    const incidents = await ask('GET', '/v1/metrics/change-failure-rate/explanation?project=shop')
    expect(incidents.findings.flatMap(({ cure }: any) => cure.rules ?? [])).toContain('issueTextIncident')
  })

  it('a wrong pattern is refused by its name, and changes nothing', async () => {
    for (const rule of ['productionBranchPattern', 'issueTextIncident']) {
      const answer = await server.ask('PATCH', config, { [rule]: '(' })
      expect([answer.status, answer.body.message]).toEqual([400, expect.stringContaining(rule)])
      expect((await ask('GET', config))[rule]).toBe('')
    }
  })
})
