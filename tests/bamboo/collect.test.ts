/** Bamboo over HTTP: first and later runs, and servers and records with problems. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { testConnection } from '../../src/control-plane/connections/test-connection.ts'
import { bamboo } from '../../src/plugins/bamboo/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeBamboo, PASSWORD, startFakeBamboo, USER } from '../fake-bamboo/fake-bamboo.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { SIGN_IN_PAGE } from '../support/fake-source.ts'
import { runSubtask } from '../support/run-subtask.ts'

const RULES = { deploymentPattern: '', productionPattern: '', envNamePattern: '(?i)prod' }
const REPO_MAP = { 'github:GithubRepo:1:7': [11] }
const HOUR = 3_600_000

describeOneWithTables('collecting from bamboo', (test) => {
  let fake: FakeBamboo
  const ago = (milliseconds: number) => {
    const time = new Date(Math.floor((Date.now() - milliseconds) / 1000) * 1000)
    fake.setNow(() => time)
  }
  const connection = () => ({ endpoint: fake.endpoint, username: USER, password: PASSWORD })
  beforeEach(async () => {
    fake = await startFakeBamboo()
    await emptyTables(test.database, allTables)
    const values = { id: 1, name: 'ci', ...connection(), proxy: '', rate_limit_per_hour: 0 }
    await test.database.kysely.insertInto('_tool_bamboo_connections').values(values).execute()
    const plan = { connection_id: 1, plan_key: 'SHOP-WEB', name: 'as it was called', scope_config_id: 0 }
    await test.database.kysely.insertInto('_tool_bamboo_plans').values(plan).execute()
  })
  afterEach(() => fake.stop())
  const runAll = async (scopeConfig: object = RULES) => {
    const options = { connectionId: 1, planKey: 'SHOP-WEB', scopeConfig }
    const remarks: string[] = []
    for (const { name, isDefault } of bamboo.subtasks) {
      if (isDefault) remarks.push(...((await runSubtask(test.database, bamboo, name, options)).remarks ?? []))
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
      bamboo.source!,
      settings as never,
      { mask: () => ({}) },
      { isSaved: false, signal: AbortSignal.timeout(60_000) },
    )

  function shop() {
    const plan = fake.addPlan('SHOP-WEB', 'web')
    fake.addJob(plan, 'build')
    fake.addJob(plan, 'test')
    return plan
  }

  it('brings plans, builds, jobs and deployments, however few a page may have', async () => {
    ago(3 * HOUR)
    const plan = shop()
    fake.setMostPerPage(25)
    const revisions = [
      { repository: 12, sha: 'b'.repeat(40) },
      { repository: 11, sha: 'a'.repeat(40) },
    ]
    for (let number = 1; number <= 60; number++)
      fake.build(plan, { state: number % 2 ? 'Successful' : 'Failed', revisions })
    const [production, staging] = ['Production', 'staging'].map((name) => fake.addEnvironment('SHOP-WEB', name))
    fake.addEnvironment('SHOP-OTHER', 'Production of another plan')
    for (let number = 1; number <= 30; number++) fake.deploy(production!, `SHOP-WEB-${number}`)
    fake.deploy(staging!, 'SHOP-WEB-1')
    expect(await runAll({ ...RULES, repoMap: REPO_MAP })).toEqual([])

    expect(await all('cicd_scopes', 'id', 'name', 'url')).toEqual([
      { id: 'bamboo:BambooPlan:1:SHOP-WEB', name: 'shop - web', url: 'http://bamboo.example.com/browse/SHOP-WEB' },
    ])
    const pipelines = await all('cicd_pipelines', 'id', 'result', 'status')
    expect(pipelines).toHaveLength(60)
    expect(pipelines.filter(({ result }) => result === 'FAILURE')).toHaveLength(30)
    expect(await all('cicd_tasks', 'id')).toHaveLength(120)
    const commits = await all('cicd_pipeline_commits', 'pipeline_id', 'commit_sha', 'repo_id')
    expect(commits).toHaveLength(120)
    expect(commits.filter(({ repo_id }) => repo_id === 'github:GithubRepo:1:7')).toHaveLength(60)
    // Each deployment counts once, although it deploys two repositories.
    const deployments = await all('cicd_deployments', 'id', 'environment', 'original_environment')
    expect(deployments).toHaveLength(31)
    expect(deployments.filter(({ environment }) => environment === 'PRODUCTION')).toHaveLength(30)
    const deployed = await all('cicd_deployment_commits', 'id', 'cicd_deployment_id', 'repo_id')
    expect(deployed).toHaveLength(62)
    expect(new Set(deployed.map((each) => each.cicd_deployment_id))).toEqual(new Set(deployments.map(({ id }) => id)))
    expect(new Set(deployed.map(({ repo_id }) => repo_id))).toEqual(new Set(['github:GithubRepo:1:7', '12']))
  })

  it('asks later only for what is new or was not finished', async () => {
    ago(5 * HOUR)
    const plan = shop()
    for (let number = 1; number <= 150; number++) fake.build(plan)
    const environment = fake.addEnvironment('SHOP-WEB', 'Production')
    const going = fake.build(plan, { state: 'Unknown', lifeCycle: 'InProgress' })
    const waiting = fake.deploy(environment, 'SHOP-WEB-1', { state: 'UNKNOWN', lifeCycle: 'IN_PROGRESS' })
    ago(3 * HOUR)
    await runAll()
    expect(await all('cicd_deployments', 'id', 'status', 'finished_date')).toMatchObject([
      { status: 'IN_PROGRESS', finished_date: null },
    ])
    ago(HOUR)
    fake.finish(going, 'Successful')
    Object.assign(waiting, { state: 'SUCCESS', lifeCycle: 'FINISHED', finished: fake.now() })
    fake.build(plan)
    fake.requests.length = 0
    await runAll()
    const pages = fake.requests.filter((path) => /result\/SHOP-WEB(-JOB\d)?\.json/.test(path))
    expect(pages).toHaveLength(3)
    const pipelines = await all('cicd_pipelines', 'id', 'status')
    expect(pipelines).toHaveLength(152)
    expect(new Set(pipelines.map(({ status }) => status))).toEqual(new Set(['DONE']))
    expect(await all('cicd_tasks', 'id')).toHaveLength(304)
    expect(new Set((await all('cicd_tasks', 'status')).map(({ status }) => status))).toEqual(new Set(['DONE']))
    expect(await all('cicd_deployments', 'id', 'status')).toMatchObject([{ status: 'DONE' }])
  })

  it('stores unknown states, and leaves out builds that never ran', async () => {
    ago(HOUR)
    const plan = shop()
    fake.build(plan, { state: 'Eaten', lifeCycle: 'Vanished' })
    fake.build(plan, { state: 'Unknown', lifeCycle: 'Queued' })
    await runAll()
    expect(await all('cicd_pipelines', 'id', 'result', 'status', 'original_result')).toEqual([
      { id: 'bamboo:BambooPlanBuild:1:SHOP-WEB-1', result: '', status: 'OTHER', original_result: 'Eaten' },
    ])
    expect(await all('_tool_bamboo_plan_builds', 'plan_build_key')).toHaveLength(2)
    expect(await all('_weir_quarantine', 'raw_table')).toEqual([])
  })

  it('continues without an environment that is deleted in the middle', async () => {
    ago(HOUR)
    const plan = shop()
    fake.build(plan)
    const [kept, gone] = ['Production', 'old'].map((name) => fake.addEnvironment('SHOP-WEB', name))
    fake.deploy(kept!, 'SHOP-WEB-1')
    fake.deploy(gone!, 'SHOP-WEB-1')
    fake.onRequest = (address) => {
      if (address.includes('/deploy/environment/')) fake.environments.splice(1, 1)
    }
    expect(await runAll()).toEqual([])
    expect(await all('cicd_deployments', 'environment')).toEqual([{ environment: 'PRODUCTION' }])
  })

  it('reads a plan that is disabled as any other', async () => {
    ago(HOUR)
    const plan = shop()
    plan.isEnabled = false
    fake.build(plan)
    expect(await runAll()).toEqual([])
    expect(await all('cicd_pipelines', 'id')).toHaveLength(1)
    expect((await all('_tool_bamboo_plans', 'enabled')).map(({ enabled }) => Boolean(enabled))).toEqual([false])
  })

  it('keeps deployments where their projects are refused later, and tells it', async () => {
    ago(2 * HOUR)
    fake.build(shop())
    fake.deploy(fake.addEnvironment('SHOP-WEB', 'Production'), 'SHOP-WEB-1')
    await runAll()
    ago(HOUR)
    for (const path of ['/deploy/project/all', '/deploy/environment/']) {
      fake.faults.push({ path, answer: [404, { message: 'not found', 'status-code': 404 }], isLasting: true })
    }
    expect((await runAll()).join()).toMatch(/deploy\/project\/all.*404/)
    expect(await all('cicd_deployments', 'id')).toHaveLength(1)
  })

  it('says that a plan is gone, and keeps its rows', async () => {
    ago(HOUR)
    fake.build(shop())
    await runAll()
    fake.plans.length = 0
    await expect(runAll()).rejects.toThrow(/SHOP-WEB/)
    expect(await all('cicd_pipelines', 'id')).toHaveLength(1)
  })

  it('does not take a page to log in for an answer', async () => {
    ago(HOUR)
    fake.build(shop())
    await runAll()
    const page = { path: '/result/SHOP-WEB.json', answer: [200, SIGN_IN_PAGE] as const }
    fake.faults.push(...Array.from({ length: 9 }, () => page))
    expect((await runAll()).join()).toMatch(/web page instead of JSON/)
    expect(await all('cicd_pipelines', 'id')).toHaveLength(1)
  })

  it('tests a connection, and says what is missing', async () => {
    await expect(check()).resolves.toMatchObject({
      success: false,
      message: expect.stringMatching(/sees no plan: give it the permission View/),
    })
    shop()
    await expect(check()).resolves.toMatchObject({ success: true })
    await expect(check({ ...connection(), password: 'wrong' })).rejects.toThrow()
    fake.faults.push({ path: 'info.json', answer: [200, SIGN_IN_PAGE] })
    await expect(check()).rejects.toThrow()
  })
})
