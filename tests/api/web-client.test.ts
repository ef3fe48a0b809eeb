/**
 * The calls that DevLake's own web page makes, in its order and with its bodies, over HTTP. After each call the test checks
 * the parts of the answer that the page relies on. The page knows the server only below /api.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { DEFAULT_TOKEN, type FakeGithub, startFakeGithub } from '../fake-github/fake-github.ts'
import { makeRepository, temporaryFolder } from '../gitextractor/support/repository.ts'
import { serveGit } from '../gitextractor/support/server.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { startLiveServer } from './support/live-server.ts'

/**
 * Sources that the page knows. For each one that the server also has, the page asks for connections. If one request fails,
 * the whole page fails.
 */
const REGISTRY = [
  'argocd',
  'asana',
  'azuredevops',
  'azuredevops_go',
  'bamboo',
  'bitbucket',
  'bitbucket_server',
  'circleci',
  'github',
  'gh-copilot',
  'gitlab',
  'jenkins',
  'jira',
  'opsgenie',
  'pagerduty',
  'q_dev',
  'slack',
  'sonarqube',
  'tapd',
  'teambition',
  'testmo',
  'webhook',
  'zentao',
]
const PROJECT = 'my first project'
const DAY = 24 * 3_600_000
const daysAgo = (days: number) => new Date(Date.now() - days * DAY)
const metric = (pluginName: string, pluginOption: unknown = {}) => ({ pluginName, pluginOption, enable: true })

/** The fields that the form of a GitHub scope config submits. */
const TRANSFORMATION = {
  issueTypeRequirement: '(feat|feature|proposal|requirement)',
  issueTypeBug: '(bug|broken)',
  issueTypeIncident: '(incident|failure)',
  issuePriority: '(highest|high|medium|low|p0|p1|p2|p3)',
  issueComponent: 'component(.*)',
  issueSeverity: 'severity(.*)',
  envNamePattern: '(?i)prod(.*)',
  deploymentPattern: '',
  productionPattern: '',
  prType: 'type(.*)',
  prComponent: 'component(.*)',
  prBodyClosePattern:
    '(?mi)(fix|close|resolve|fixes|closes|resolves|fixed|closed|resolved)[\\s]*.*(((and )?(#|https:\\/\\/github.com\\/%s\\/issues\\/)\\d+[ ]*)+)',
  refdiff: { tagsLimit: 10, tagsPattern: '/v\\d+\\.\\d+(\\.\\d+(-rc)*\\d*)*$/' },
  prSizeExcludedFileExtensions: [],
}

type Ask = (method: string, path: string, body?: unknown) => Promise<any>
interface Page {
  /** Sends a request and fails unless the answer is a success, as the page would. */
  readonly ask: Ask
  /** Sends a request that must fail, and returns the status and body that the page shows. */
  readonly refused: (method: string, path: string, body?: unknown) => Promise<{ status: number; body: any }>
}

async function untilFinished({ ask }: Page, id: number): Promise<any> {
  for (;;) {
    const pipeline = await ask('GET', `/pipelines/${id}`)
    expect(pipeline).toMatchObject({
      stage: expect.any(Number),
      finishedTasks: expect.any(Number),
      totalTasks: expect.any(Number),
    })
    if (!['TASK_CREATED', 'TASK_RUNNING', 'TASK_RERUN'].includes(pipeline.status)) return pipeline
    await sleep(200)
  }
}

async function startUp({ ask }: Page): Promise<void> {
  expect(await ask('GET', '/store/onboard')).toBeNull()
  const plugins: { plugin: string }[] = await ask('GET', '/plugins')
  expect(await ask('GET', '/version')).toEqual({ version: expect.any(String) })
  expect(await ask('GET', '/auth/userinfo')).toEqual({ authenticated: false, name: '', email: '' })
  const asked = plugins.map(({ plugin }) => plugin).filter((plugin) => REGISTRY.includes(plugin))
  expect(asked).toEqual(expect.arrayContaining(['github', 'jira', 'circleci']))
  for (const plugin of asked) expect(await ask('GET', `/plugins/${plugin}/connections`)).toEqual([])
}

async function onboard(page: Page, github: FakeGithub) {
  const { ask } = page
  expect(await ask('GET', `/projects/${encodeURIComponent(PROJECT)}/check`)).toEqual({ exist: false })
  const connection = { endpoint: `${github.url}/`, authMethod: 'AccessToken', token: DEFAULT_TOKEN, proxy: '' }
  const tested = await ask('POST', '/plugins/github/test', connection)
  expect(tested).toMatchObject({ success: true, message: 'success', login: expect.any(String), warning: false })
  const name = `github-${Date.now()}`
  const { id } = await ask('POST', '/plugins/github/connections', { name, ...connection, rateLimitPerHour: 0 })
  const at = `/plugins/github/connections/${id}`
  const groups = (await ask('GET', `${at}/remote-scopes`)).children
  expect(groups).toContainEqual({
    type: 'group',
    parentId: null,
    id: 'acme',
    name: 'acme',
    fullName: 'acme',
    data: null,
  })
  const { children, nextPageToken } = await ask('GET', `${at}/remote-scopes?groupId=acme`)
  expect(nextPageToken).toBe('')
  const web = children.find(({ fullName }: any) => fullName === 'acme/web')

  const { blueprint } = await ask('POST', '/projects', {
    name: PROJECT,
    description: '',
    metrics: [metric('dora', '')],
  })
  expect(await ask('PUT', `${at}/scopes`, { data: [web.data] })).toHaveLength(1)
  const connections = [{ pluginName: 'github', connectionId: id, scopes: [{ scopeId: String(web.data.githubId) }] }]
  await ask('PATCH', `/blueprints/${blueprint.id}`, { timeAfter: daysAgo(14).toISOString(), connections })
  await ask('POST', `/blueprints/${blueprint.id}/trigger`, { skipCollectors: false, fullSync: false })
  const { pipelines } = await ask('GET', `/blueprints/${blueprint.id}/pipelines`)
  const record = {
    plugin: 'github',
    connectionId: id,
    blueprintId: blueprint.id,
    pipelineId: pipelines[0].id,
    scopeName: 'acme/web',
  }
  const state = { step: 4, records: [record], done: true, projectName: PROJECT, plugin: 'github' }
  expect(await ask('PUT', '/store/onboard', state)).toEqual(state)
  expect(await ask('GET', '/store/onboard')).toEqual(state)

  const run = await untilFinished(page, pipelines[0].id)
  const { tasks } = await ask('GET', `/pipelines/${run.id}/tasks`)
  const failed = tasks.filter(({ status }: any) => status !== 'TASK_COMPLETED')
  expect(failed.map(({ plugin, failedSubTask, message }: any) => [plugin, failedSubTask, message])).toEqual([])
  const card = await ask('GET', `/pipelines/${run.id}/subtasks`)
  expect(card).toMatchObject({ completionRate: 1, status: 'TASK_COMPLETED' })
  // The card shows the first task as the source, and the second as its git history.
  expect(card.subtasks.map(({ plugin }: any) => plugin).slice(0, 2)).toEqual(['github_graphql', 'gitextractor'])
  expect(card.subtasks[0].options.fullName).toBe('acme/web')
  for (const { subtaskDetails } of card.subtasks.slice(0, 2)) {
    expect(subtaskDetails[0]).toMatchObject({
      isCollector: expect.any(Boolean),
      isFailed: false,
      sequence: 1,
      name: expect.any(String),
      beganAt: expect.any(String),
      finishedAt: expect.any(String),
      finishedRecords: expect.any(Number),
    })
  }
  return { at, connectionId: id, blueprintId: blueprint.id, pipelineId: run.id, web }
}
type Onboarded = Awaited<ReturnType<typeof onboard>>

async function projectPages(page: Page, { blueprintId, connectionId, pipelineId }: Onboarded): Promise<void> {
  const { ask, refused } = page
  const { count, projects } = await ask('GET', '/projects?page=1&pageSize=20&keyword=')
  expect(count).toBe(1)
  expect(projects[0]).toMatchObject({
    name: PROJECT,
    createdAt: expect.any(String),
    blueprint: { connections: [{ pluginName: 'github', connectionId }], isManual: false, cronConfig: '0 0 * * *' },
    lastPipeline: { finishedAt: expect.any(String), status: 'TASK_COMPLETED' },
  })
  await ask('POST', '/projects', { name: 'second', description: '', metrics: [metric('dora'), metric('issue_trace')] })
  const metrics = [metric('dora'), metric('linker', { prToIssueRegexp: '(?mi)#(\\d+)' }), metric('issue_trace')]
  await ask('PATCH', '/projects/second', { name: 'renamed', description: '', metrics })
  const detail = await ask('GET', '/projects/renamed')
  expect(detail).toMatchObject({ name: 'renamed', blueprint: { id: expect.any(Number), projectName: 'renamed' } })
  expect(detail.metrics).toEqual(expect.arrayContaining(metrics))
  expect((await refused('GET', '/projects/second')).status).toBe(404)

  expect((await ask('GET', '/blueprints?type=ALL&page=1&pageSize=20')).blueprints).toMatchObject([
    { projectName: 'renamed', connections: [], mode: 'NORMAL', enable: true },
    { id: blueprintId, projectName: PROJECT, connections: [{ connectionId }] },
  ])
  // The whole object is sent back, including id, plan and times.
  const before = await ask('GET', `/blueprints/${blueprintId}`)
  for (const change of [
    { name: 'weekly' },
    { cronConfig: '0 0 * * 1', isManual: false, skipOnFail: true, timeAfter: '2024-01-01T00:00:00+00:00' },
    { enable: false },
    { enable: true },
  ]) {
    const saved = await ask('PATCH', `/blueprints/${blueprintId}`, {
      ...(await ask('GET', `/blueprints/${blueprintId}`)),
      ...change,
    })
    const shown = 'timeAfter' in change ? { ...change, timeAfter: '2024-01-01T00:00:00.000Z' } : change
    expect(saved).toMatchObject({
      ...shown,
      id: blueprintId,
      createdAt: before.createdAt,
      connections: before.connections,
    })
  }
  const again = await ask('POST', `/blueprints/${blueprintId}/trigger`, { skipCollectors: true, fullSync: true })
  expect(await untilFinished(page, again.id)).toMatchObject({
    status: 'TASK_COMPLETED',
    skipCollectors: true,
    fullSync: true,
  })
  const history = await ask('GET', `/blueprints/${blueprintId}/pipelines?page=1&pageSize=10`)
  expect(history).toMatchObject({ count: 2, pipelines: [{ id: again.id }, { id: pipelineId }] })
  expect((await refused('GET', '/blueprints/999')).status).toBe(404)

  const advanced = await ask('POST', '/blueprints', {
    name: 'by hand',
    mode: 'ADVANCED',
    enable: true,
    cronConfig: '0 0 * * *',
    isManual: false,
    skipOnFail: true,
    timeAfter: daysAgo(180).toISOString(),
    plan: [[]],
  })
  expect((await refused('POST', `/blueprints/${advanced.id}/trigger`, {})).body.message).toMatch(/no task/)
  const plan = [[{ plugin: 'dora', subtasks: ['generateDeployments'], options: { projectName: PROJECT } }]]
  expect(await ask('PATCH', `/blueprints/${advanced.id}`, { ...advanced, plan })).toMatchObject({ plan })
  await ask('DELETE', `/blueprints/${advanced.id}`)
  await ask('DELETE', '/projects/renamed')
}

async function pipelinePages(page: Page, { pipelineId }: Onboarded): Promise<void> {
  const { ask, refused } = page
  const { count, pipelines } = await ask('GET', '/pipelines?page=1&pageSize=20')
  expect([count, pipelines.at(-1).id]).toEqual([2, pipelineId])
  for (const name of ['id', 'name', 'status', 'beganAt', 'finishedAt', 'plan', 'skipOnFail']) {
    expect(pipelines[0]).toHaveProperty(name)
  }
  const { tasks } = await ask('GET', `/pipelines/${pipelineId}/tasks`)
  for (const task of tasks) {
    expect(task).toMatchObject({
      id: expect.any(Number),
      plugin: expect.any(String),
      pipelineRow: expect.any(Number),
      pipelineCol: expect.any(Number),
      options: expect.any(Object),
      message: '',
    })
  }
  // The page first tests the address, then opens it as a link.
  expect((await ask('GET', `/pipelines/${pipelineId}/logging.tar.gz`)).length).toBeGreaterThan(0)
  // The page offers this for completed runs too.
  expect((await refused('POST', `/pipelines/${pipelineId}/rerun`)).body.message).toMatch(/nothing to run again/)
  const org = tasks.find(({ plugin }: any) => plugin === 'org')
  expect(await ask('POST', `/tasks/${org.id}/rerun`)).toMatchObject({ plugin: 'org', status: 'TASK_RERUN' })
  expect((await untilFinished(page, pipelineId)).status).toBe('TASK_COMPLETED')
  await ask('DELETE', `/pipelines/${pipelineId}`)
}

async function connectionPages(
  { ask, refused }: Page,
  { at, blueprintId, connectionId, web }: Onboarded,
): Promise<void> {
  const shown = await ask('GET', at)
  const patched = await ask('PATCH', at, { ...shown, name: 'main' })
  expect(patched).toMatchObject({ id: connectionId, name: 'main', token: shown.token })
  expect(await ask('POST', `${at}/test`, {})).toMatchObject({
    success: true,
    tokens: [{ success: true, token: shown.token }],
  })
  const { name: _name, ...other } = shown
  expect((await refused('POST', '/plugins/github/test', { ...other, token: 'ghp_wrong' })).body.message).toMatch(/401/)
  const found = await ask('GET', `${at}/search-remote-scopes?search=web&page=1&pageSize=50`)
  expect(found.children).toMatchObject([{ type: 'scope', fullName: 'acme/web', data: { githubId: web.data.githubId } }])

  const one = `${at}/scopes/${web.data.githubId}`
  expect(await ask('GET', `${at}/scopes?page=1&pageSize=10&blueprints=true`)).toMatchObject({
    count: 1,
    scopes: [{ scope: { fullName: 'acme/web' }, blueprints: [{ id: blueprintId, projectName: PROJECT }] }],
  })
  expect((await ask('GET', `${at}/scopes?searchTerm=web`)).scopes[0].scope.githubId).toBe(web.data.githubId)
  const entities = ['CODE', 'TICKET', 'CODEREVIEW', 'CROSS', 'CICD']
  const config = await ask('POST', `${at}/scope-configs`, { name: 'rules', entities, ...TRANSFORMATION })
  expect(await ask('GET', `${at}/scope-configs`)).toMatchObject([{ id: config.id, name: 'rules' }])
  const {
    id,
    connectionId: _connection,
    name: _config,
    entities: _entities,
    createdAt,
    updatedAt,
    ...rules
  } = await ask('GET', `${at}/scope-configs/${config.id}`)
  // Two rules exist only in Weir, and DevLake's page ignores them.
  expect(rules).toEqual({ ...TRANSFORMATION, issueTextIncident: '', productionBranchPattern: '' })
  await ask('PATCH', `${at}/scope-configs/${id}`, {
    name: 'our rules',
    entities,
    ...rules,
    deploymentPattern: 'deploy',
  })

  const view = await ask('GET', one)
  expect(await ask('PATCH', one, { ...view, scopeConfigId: id })).toMatchObject({ scopeConfigId: id })
  expect(await ask('GET', `${one}?blueprints=true`)).toMatchObject({
    scope: { fullName: 'acme/web' },
    scopeConfig: { id, name: 'our rules' },
    blueprints: [{ id: blueprintId, projectName: PROJECT }],
  })
  expect(await ask('GET', `/plugins/github/scope-config/${id}/projects`)).toMatchObject({
    projects: [{ name: PROJECT, blueprintId, scopes: [{ scopeName: 'acme/web' }] }],
  })
  for (const path of [at, `${one}?delete_data_only=false`]) {
    const answer = await refused('DELETE', path)
    expect(answer).toMatchObject({
      status: 409,
      body: { message: expect.any(String), data: { projects: [PROJECT], blueprints: ['weekly'] } },
    })
  }
  await ask('DELETE', `${one}?delete_data_only=true`)
  await ask('PATCH', one, { scopeConfigId: null })
}

async function otherPages({ ask }: Page): Promise<void> {
  const created = await ask('POST', '/api-keys', { name: 'ci', allowedPath: '.*', type: 'devlake' })
  expect(created.apiKey).toMatch(/^\w{128}$/)
  expect(await ask('GET', '/api-keys?page=1&pageSize=15')).toMatchObject({
    count: 1,
    apikeys: [{ id: created.id, name: 'ci', expiredAt: null, allowedPath: '.*' }],
  })
  expect((await ask('PUT', `/api-keys/${created.id}`)).apiKey).not.toBe(created.apiKey)
  await ask('DELETE', `/api-keys/${created.id}`)
  await ask('GET', '/proceed-db-migration')
  expect(await ask('GET', '/auth/methods')).toMatchObject({ apiKey: { enabled: true } })
  expect(await ask('POST', '/auth/logout')).toEqual({ ok: true })
}

async function takeDown({ ask }: Page, { at, web }: Onboarded): Promise<void> {
  await ask('DELETE', `/projects/${encodeURIComponent(PROJECT)}`)
  await ask('DELETE', `${at}/scopes/${web.data.githubId}?delete_data_only=false`)
  await ask('DELETE', at)
  expect(await ask('GET', '/plugins/github/connections')).toEqual([])
}

describeOneWithTables('DevLake’s web page', (test) => {
  it('finds everything that it relies on, from its first start to the last deletion', async () => {
    const repository = makeRepository(`${temporaryFolder()}/web`)
    repository.write('README.md', 'hello\n')
    repository.commit('first', Math.floor(daysAgo(3).getTime() / 1000))
    const git = await serveGit(`${repository.folder}/..`)
    const amounts = { issues: 4, pullRequests: 3, workflowRuns: 3, commits: 3, deployments: 2, releases: 1 }
    const github = await startFakeGithub({
      world: {
        from: daysAgo(10).toISOString(),
        until: daysAgo(1).toISOString(),
        repositories: [{ name: 'acme/web', cloneUrl: `${git.url}/web`, ...amounts }],
      },
    })
    const server = await startLiveServer(await test.createDatabase())
    const refused: Page['refused'] = async (method, path, body) => {
      const answer = await server.ask(method, `/api${path}`, body)
      expect(answer.status, `${method} ${path}`).toBeGreaterThanOrEqual(400)
      return answer
    }
    const ask: Ask = async (method, path, body) => {
      const answer = await server.ask(method, `/api${path}`, body)
      expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
      expect(answer.text).not.toContain(DEFAULT_TOKEN)
      return answer.body
    }
    const page = { ask, refused }
    try {
      await startUp(page)
      const onboarded = await onboard(page, github)
      await projectPages(page, onboarded)
      await pipelinePages(page, onboarded)
      await connectionPages(page, onboarded)
      await otherPages(page)
      await takeDown(page, onboarded)
    } finally {
      await server.stop()
      await github.stop()
    }
    expect(github.violations).toEqual([])
  })
})
