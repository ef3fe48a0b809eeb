/** Argo CD over HTTP: first and later runs, and servers and records with problems. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import { argocd } from '../../src/plugins/argocd/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeArgocd, startFakeArgocd, TOKEN } from '../fake-argocd/fake-argocd.ts'
import { type FakeApplication, shaOf } from '../fake-argocd/world.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { SIGN_IN_PAGE } from '../support/fake-source.ts'
import { runSubtask } from '../support/run-subtask.ts'

const RULES = { deploymentPattern: '', productionPattern: '', envNamePattern: '(?i)prod' }
const MINUTE = 60_000
const START = Math.floor(Date.now() / 1000) * 1000 - 1000 * MINUTE
const second = (minutes: number) => START / 1000 + minutes * 60
const idOf = (minutes: number, name = 'web') => `argocd:ArgocdSyncOperation:1:${name}:${second(minutes)}`

describeOneWithTables('collecting from argocd', (test) => {
  let fake: FakeArgocd
  /** Sets the clock to this many minutes after the start. */
  const at = (minutes: number) => fake.setNow(() => new Date(START + minutes * MINUTE))
  const connection = () => ({ endpoint: fake.endpoint, token: TOKEN })
  beforeEach(async () => {
    fake = await startFakeArgocd()
    at(0)
    await emptyTables(test.database, allTables)
    const values = { id: 1, name: 'clusters', ...connection(), proxy: '', rate_limit_per_hour: 0 }
    await test.database.kysely.insertInto('_tool_argocd_connections').values(values).execute()
    for (const name of ['web', 'team-a/web']) {
      const application = { connection_id: 1, name, scope_config_id: 0 }
      await test.database.kysely.insertInto('_tool_argocd_applications').values(application).execute()
    }
  })
  afterEach(() => fake.stop())
  const runAll = async (scopeConfig: object = RULES, { fullSync = false, name = 'web' } = {}) => {
    const options = { connectionId: 1, applicationName: name, scopeConfig }
    const remarks: string[] = []
    for (const { name, isDefault } of argocd.subtasks) {
      if (!isDefault) continue
      remarks.push(...((await runSubtask(test.database, argocd, name, options, { fullSync })).remarks ?? []))
    }
    return remarks
  }
  const all = async (table: string, ...columns: string[]): Promise<any[]> =>
    test.database.kysely
      .selectFrom(table)
      .select(columns)
      .orderBy(columns[0] as string)
      .execute()
  const check = (settings: object = connection()) =>
    testConnection(
      argocd.source!,
      settings as never,
      { mask: () => ({}) },
      { isSaved: false, signal: AbortSignal.timeout(60_000) },
    )
  const syncAt = (application: FakeApplication, begun: number, finished: number, options: object = {}) => {
    at(begun)
    fake.world.begin(application, options)
    at(finished)
    fake.world.finish(application, (options as { phase?: string }).phase)
  }

  it('brings applications with their syncs as deployments', async () => {
    const web = fake.world.add('web', { project: 'shop', destination: { name: 'prod-eu', namespace: 'web' } })
    syncAt(web, 10, 12, { revisions: [shaOf('one')], username: 'ada' })
    syncAt(web, 20, 25, { revisions: [shaOf('two')] })
    expect(await runAll()).toEqual([])
    expect(await all('cicd_scopes', 'id', 'name', 'description', 'url')).toEqual([
      {
        id: 'argocd:ArgocdApplication:1:web',
        name: 'web',
        description: 'Project: shop | Namespace: argocd | Destination: prod-eu/web',
        url: `${fake.url}applications/argocd/web`,
      },
    ])
    const common = { cicd_scope_id: 'argocd:ArgocdApplication:1:web', result: 'SUCCESS', status: 'DONE' }
    const place = { environment: 'PRODUCTION', original_environment: 'shop/prod-eu/web' }
    expect(
      await all(
        ...(['cicd_deployments', 'id', 'name', 'cicd_scope_id', 'result', 'status', 'environment'] as const),
        ...(['original_environment', 'created_date', 'started_date', 'finished_date', 'duration_sec'] as const),
      ),
    ).toEqual([
      {
        id: idOf(12),
        name: `web:${second(12)}`,
        ...common,
        ...place,
        duration_sec: 120,
        created_date: new Date(START + 10 * MINUTE),
        started_date: new Date(START + 10 * MINUTE),
        finished_date: new Date(START + 12 * MINUTE),
      },
      {
        id: idOf(25),
        name: `web:${second(25)}`,
        ...common,
        ...place,
        duration_sec: 300,
        created_date: new Date(START + 20 * MINUTE),
        started_date: new Date(START + 20 * MINUTE),
        finished_date: new Date(START + 25 * MINUTE),
      },
    ])
    const url = 'https://git.example.com/acme/web'
    expect(
      await all('cicd_deployment_commits', 'id', 'cicd_deployment_id', 'commit_sha', 'repo_url', 'ref_name'),
    ).toEqual([
      { id: idOf(12), cicd_deployment_id: idOf(12), commit_sha: shaOf('one'), repo_url: url, ref_name: 'main' },
      { id: idOf(25), cicd_deployment_id: idOf(25), commit_sha: shaOf('two'), repo_url: url, ref_name: 'main' },
    ])
    expect(await all('_tool_argocd_sync_operations', 'initiated_by', 'phase')).toEqual([
      { initiated_by: 'ada', phase: 'Succeeded' },
      { initiated_by: 'automated', phase: 'Succeeded' },
    ])
  })

  it('deploys the commits of all sources, each once, and counts a deployment once', async () => {
    const sources = [
      { repoURL: 'https://charts.example.com', chart: 'shop', targetRevision: '1.x' },
      { repoURL: 'https://git.example.com/acme/values', path: 'prod', targetRevision: 'main', ref: 'values' },
      { repoURL: 'https://git.example.com/acme/web', path: 'deploy', targetRevision: 'release' },
      { repoURL: 'https://git.example.com/acme/web', path: 'jobs', targetRevision: 'release' },
    ]
    const web = fake.world.add('web', { sources })
    syncAt(web, 1, 2, { revisions: ['1.4.2', shaOf('values'), shaOf('web'), shaOf('web')] })
    await runAll()
    expect(await all('cicd_deployments', 'id')).toHaveLength(1)
    expect(await all('cicd_deployment_commits', 'id', 'cicd_deployment_id', 'commit_sha', 'repo_url')).toEqual([
      {
        id: idOf(2),
        cicd_deployment_id: idOf(2),
        commit_sha: shaOf('values'),
        repo_url: 'https://git.example.com/acme/values',
      },
      {
        id: `${idOf(2)}:2`,
        cicd_deployment_id: idOf(2),
        commit_sha: shaOf('web'),
        repo_url: 'https://git.example.com/acme/web',
      },
    ])
    expect(await all('_tool_argocd_sync_operations', 'revision', 'repo_url')).toEqual([
      { revision: shaOf('values'), repo_url: 'https://git.example.com/acme/values' },
    ])
    expect(await all('_tool_argocd_applications', 'name', 'repo_url', 'path')).toMatchObject([
      {},
      { name: 'web', repo_url: 'https://git.example.com/acme/values', path: 'prod' },
    ])
  })

  it('counts what has no commit by the version of its chart', async () => {
    const web = fake.world.add('web', {
      sources: [{ repoURL: 'https://charts.example.com', chart: 'shop', targetRevision: '1.x' }],
    })
    syncAt(web, 1, 2, { revisions: ['1.4.2'] })
    await runAll()
    expect(await all('cicd_deployment_commits', 'commit_sha', 'repo_url', 'cicd_deployment_id')).toEqual([
      { commit_sha: '1.4.2', repo_url: 'https://charts.example.com', cicd_deployment_id: idOf(2) },
    ])
  })

  it('keeps what Argo CD has forgotten, after a full sync too', async () => {
    const web = fake.world.add('web')
    fake.world.historyLimit = 3
    for (let index = 0; index < 3; index++) syncAt(web, 10 * index, 10 * index + 1)
    await runAll()
    for (let index = 3; index < 5; index++) syncAt(web, 10 * index, 10 * index + 1)
    await runAll()
    const five = [1, 11, 21, 31, 41].map((minutes) => ({ id: idOf(minutes) }))
    expect(await all('cicd_deployments', 'id')).toEqual(five)
    // The list has as many syncs as are stored, and none of the same. Weir must not report that the source changed its ids.
    for (let index = 5; index < 15; index++) syncAt(web, 10 * index, 10 * index + 1)
    fake.world.historyLimit = 10
    expect(await runAll(RULES, { fullSync: true })).toEqual([])
    expect((await all('cicd_deployments', 'id')).slice(0, 5)).toEqual(five)
    expect(await all('cicd_deployments', 'id')).toHaveLength(8)
    expect(await all('cicd_deployment_commits', 'id')).toHaveLength(8)
    expect(await all('_tool_argocd_sync_sources', 'deployment_id')).toHaveLength(8)
  })

  it('updates an entry that is told again', async () => {
    const web = fake.world.add('web')
    syncAt(web, 1, 2, { revisions: [shaOf('wrong')] })
    await runAll()
    Object.assign(web.status.history[0] as object, { revision: shaOf('right') })
    await runAll()
    expect(await all('cicd_deployment_commits', 'commit_sha')).toEqual([{ commit_sha: shaOf('right') }])
  })

  it('has one deployment for a sync, from its beginning to its end', async () => {
    const web = fake.world.add('web')
    at(10)
    fake.world.begin(web)
    await runAll()
    expect(await all('cicd_deployments', 'id', 'status', 'result', 'finished_date')).toEqual([
      { id: idOf(10), status: 'IN_PROGRESS', result: '', finished_date: null },
    ])
    expect(await all('_tool_argocd_sync_operations', 'kind', 'resources_count')).toEqual([
      { kind: 'Deployment', resources_count: 2 },
    ])
    at(12)
    fake.world.finish(web)
    await runAll()
    expect(await all('cicd_deployments', 'id', 'status', 'result')).toEqual([
      { id: idOf(12), status: 'DONE', result: 'SUCCESS' },
    ])
    // A sync whose end nobody saw, and one that failed. The failed one is kept when another follows.
    at(20)
    fake.world.begin(web)
    await runAll()
    syncAt(web, 30, 31, { phase: 'Failed' })
    await runAll()
    syncAt(web, 40, 41)
    await runAll()
    expect(await all('cicd_deployments', 'id', 'status', 'result')).toEqual([
      { id: idOf(12), status: 'DONE', result: 'SUCCESS' },
      { id: idOf(30), status: 'DONE', result: 'FAILURE' },
      { id: idOf(41), status: 'DONE', result: 'SUCCESS' },
    ])
    // While a failed operation is retried it is running, though it still has the time of its last end.
    syncAt(web, 50, 51, { phase: 'Failed' })
    fake.world.retry(web)
    await runAll()
    expect(await all('cicd_deployments', 'id', 'status', 'finished_date')).toContainEqual({
      id: idOf(50),
      status: 'IN_PROGRESS',
      finished_date: null,
    })
  })

  it('counts what the history does not have, but no dry run', async () => {
    const web = fake.world.add('web')
    fake.world.historyLimit = 0
    syncAt(web, 1, 2)
    await runAll()
    expect(await all('cicd_deployments', 'id', 'result')).toEqual([{ id: idOf(1), result: 'SUCCESS' }])
    syncAt(web, 5, 6)
    web.status.operationState!.operation.sync.dryRun = true
    await runAll()
    expect(await all('cicd_deployments', 'id')).toEqual([{ id: idOf(1) }])
  })

  it('knows the images of what runs, and of what ran', async () => {
    const web = fake.world.add('web')
    const sync = (minutes: number, text: string) => {
      syncAt(web, minutes, minutes + 1, { revisions: [shaOf(text)] })
      web.status.summary.images = [`shop/web:${text}`]
    }
    sync(1, 'one')
    await runAll()
    sync(3, 'two')
    await runAll()
    const images = await all('_tool_argocd_revision_images', 'revision', 'images')
    const texts = ['one', 'two'].map((text) => ({ revision: shaOf(text), images: [`shop/web:${text}`] }))
    expect(images).toEqual(texts.toSorted((one, other) => (one.revision < other.revision ? -1 : 1)))
  })

  it('knows environments by application, project, cluster and namespace', async () => {
    const server = 'https://10.0.0.1'
    fake.world.clusters.push({ server, name: 'live-eu' })
    const web = fake.world.add('web', { project: 'shop', destination: { server, namespace: 'front' } })
    syncAt(web, 1, 2)
    const environment = async (rules: object) => {
      await runAll(rules)
      return (await all('cicd_deployments', 'environment', 'original_environment'))[0]
    }
    const place = 'shop/live-eu/front'
    for (const pattern of ['^live-', '^shop$', '^web$', '^front$', '10\\.0\\.0\\.1']) {
      expect(await environment({ ...RULES, envNamePattern: pattern })).toEqual({
        environment: 'PRODUCTION',
        original_environment: place,
      })
    }
    expect(await environment(RULES)).toMatchObject({ environment: 'TESTING' })
    expect(await environment({ ...RULES, productionPattern: '^live' })).toMatchObject({ environment: 'PRODUCTION' })
    // An account that may not see clusters gets only their addresses.
    fake.settings.seesClusters = false
    expect(await environment(RULES)).toMatchObject({ original_environment: `shop/${server}/front` })
    expect(await runAll({ ...RULES, deploymentPattern: '^api' })).toEqual([])
    expect(await all('cicd_deployments', 'id')).toEqual([])
    expect(await all('cicd_deployment_commits', 'id')).toEqual([])
  })

  it('tells two applications of one name apart', async () => {
    syncAt(fake.world.add('web'), 1, 2)
    syncAt(fake.world.add('web', { namespace: 'team-a' }), 3, 4)
    await runAll()
    await runAll(RULES, { name: 'team-a/web' })
    expect(await all('cicd_deployments', 'id', 'cicd_scope_id')).toEqual([
      { id: idOf(4, 'team-a/web'), cicd_scope_id: 'argocd:ArgocdApplication:1:team-a/web' },
      { id: idOf(2), cicd_scope_id: 'argocd:ArgocdApplication:1:web' },
    ])
    expect(await all('cicd_scopes', 'url')).toEqual([
      { url: `${fake.url}applications/argocd/web` },
      { url: `${fake.url}applications/team-a/web` },
    ])
  })

  it('stores unknown states', async () => {
    const web = fake.world.add('web')
    Object.assign(web.status, { sync: { status: 'Dreaming' }, health: { status: 'Dizzy' } })
    syncAt(web, 1, 2, { phase: 'Vanished' })
    await runAll()
    expect(await all('cicd_deployments', 'result', 'status', 'original_result')).toEqual([
      { result: '', status: 'OTHER', original_result: 'Vanished' },
    ])
    expect(await all('_tool_argocd_applications', 'name', 'sync_status', 'health_status')).toContainEqual({
      name: 'web',
      sync_status: 'Dreaming',
      health_status: 'Dizzy',
    })
    expect(await all('_weir_quarantine', 'raw_table')).toEqual([])
    // A sync that is in the history is not stored twice.
    syncAt(web, 5, 6)
    Object.assign(web.status.operationState ?? {}, { phase: 'Dreamt' })
    await runAll()
    expect(await all('cicd_deployments', 'result')).toEqual([{ result: '' }, { result: 'SUCCESS' }])
  })

  it('takes times without a zone for UTC, and puts an entry without a time aside', async () => {
    const web = fake.world.add('web')
    for (const minutes of [1, 3]) syncAt(web, minutes, minutes + 1)
    delete web.status.operationState
    const [one, two] = web.status.history as [any, any]
    for (const name of ['deployedAt', 'deployStartedAt']) one[name] = one[name].replace('Z', '')
    delete two.deployedAt
    await runAll()
    expect(await all('cicd_deployments', 'id', 'finished_date')).toEqual([
      { id: idOf(2), finished_date: new Date(START + 2 * MINUTE) },
    ])
    const [put] = await all('_weir_quarantine', 'reason')
    expect(put.reason).toMatch(/deployment_id: missing/)
    await runAll()
    expect(await all('_weir_quarantine', 'reason')).toHaveLength(1)
  })

  it('bears an application that was never synced', async () => {
    const web = fake.world.add('web')
    web.status = {} as never
    expect(await runAll()).toEqual([])
    expect(await all('cicd_scopes', 'id')).toHaveLength(1)
    expect(await all('cicd_deployments', 'id')).toEqual([])
  })

  it('says that an application is gone, in the middle too, and keeps its rows', async () => {
    const web = fake.world.add('web')
    syncAt(web, 1, 2)
    await runAll()
    let asked = 0
    fake.onRequest = (address) => {
      if (address.includes('/applications/web') && ++asked === 2) fake.world.remove(web)
    }
    await expect(runAll()).rejects.toThrow(/applications\/web answers 403: the application is gone, was renamed/)
    fake.onRequest = () => {}
    await expect(runAll()).rejects.toThrow(/the application is gone/)
    expect(await all('cicd_deployments', 'id')).toHaveLength(1)
  })

  it('does not take a page to sign in, or something else, for an application', async () => {
    const web = fake.world.add('web')
    syncAt(web, 1, 2)
    await runAll()
    fake.onRequest = (address) => {
      if (address.includes('/applications/')) fake.faults.push({ path: address, answer: [200, SIGN_IN_PAGE] })
    }
    await expect(runAll()).rejects.toThrow(/web page instead of JSON/)
    fake.onRequest = () => {}
    fake.faults.length = 0
    const other = { path: '/applications/web', answer: [200, { status: 'ok' }] as const }
    fake.faults.push(...Array.from({ length: 20 }, () => other))
    expect((await runAll()).join()).toMatch(/unexpected form: there is no application in it/)
    expect(await all('cicd_deployments', 'id')).toHaveLength(1)
    fake.faults.length = 0
    expect(await runAll()).toEqual([])
  })

  it('tests a connection, and says which rights are missing', async () => {
    await expect(check()).resolves.toMatchObject({
      success: false,
      message: expect.stringMatching(/weir sees no application: grant the right get \(p, weir, applications, get/),
    })
    fake.world.add('web', { project: 'shop' })
    await expect(check()).resolves.toMatchObject({ success: true })
    fake.settings.seesClusters = false
    await expect(check()).resolves.toMatchObject({
      success: true,
      message: expect.stringMatching(/sees no cluster.*p, weir, clusters, get/),
    })
    fake.settings.projects = ['other']
    await expect(check()).resolves.toMatchObject({ success: false })
    await expect(check({ ...connection(), token: 'wrong' })).rejects.toThrow()
    await expect(check({ ...connection(), endpoint: fake.url })).rejects.toThrow(/web page|does not answer/)
    fake.faults.push({ path: 'userinfo', answer: [200, { loggedIn: false }] })
    await expect(check()).resolves.toMatchObject({
      success: false,
      message: expect.stringMatching(/does not accept the token/),
    })
    fake.faults.push({ path: 'userinfo', answer: [200, { hello: 'world' }] })
    await expect(check()).rejects.toThrow(/does not answer as Argo CD does/)
  })
})
