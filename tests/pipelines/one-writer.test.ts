import { sql } from 'kysely'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import type { Task } from '../../src/control-plane/records.ts'
import type { PlanTask } from '../../src/plugin-kit/spec/plan.ts'
import { plugins } from '../../src/plugins/index.ts'
import type { Runner } from '../../src/runner/runner.ts'
import { leasesOfScope, leasesOfTask } from '../../src/runner/task-leases.ts'
import { prepareDatabase } from '../../src/start/prepare-database.ts'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../fake-circleci/fake-circleci.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { realControl } from './support/real-control.ts'
import { inProcess, testRunner, untilFinished } from './support/test-control.ts'

const PIPELINES = 100
const SLUG = 'github/acme/web'
/** The result of a collection, without the times and the order of storing. */
const TABLES = {
  _raw_circleci_api_pipelines: 'data',
  _raw_circleci_api_jobs: 'data',
  _tool_circleci_pipelines: 'id',
  _tool_circleci_jobs: 'id',
  cicd_pipelines: 'id',
  cicd_tasks: 'id',
}

describeEachWithTables('a scope', (test) => {
  let fake: FakeCircleci
  let control: ControlPlane
  let runners: Runner[] = []
  let task: PlanTask
  beforeAll(async () => {
    await prepareDatabase(test.database)
    fake = await startFakeCircleci(PIPELINES)
    control = realControl(test.database)
    const settings = { name: 'ci', endpoint: fake.url, token: TOKEN }
    const { id: connectionId } = await control.services.connections.create('circleci', settings)
    await control.services.scopes.put('circleci', connectionId, [{ id: 'id-web', slug: SLUG, name: 'web' }])
    task = { plugin: 'circleci', subtasks: [], options: { connectionId, projectSlug: SLUG } }
    const dispatch = inProcess(control)
    runners = await Promise.all([testRunner(control, dispatch), testRunner(control, dispatch)])
  })
  afterAll(async () => {
    await Promise.all(runners.map((runner) => runner.stop()))
    await fake?.stop()
  })

  async function stored(): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {}
    for (const [table, column] of Object.entries(TABLES)) {
      const { rows } = await sql<{
        value: unknown
      }>`select ${sql.ref(column)} as value from ${sql.table(table)}`.execute(test.database.kysely)
      found[table] = rows.map(({ value }) => String(value)).sort()
    }
    return found
  }

  it('has one writer: what two pipelines at once leave is what one leaves', async () => {
    const run = (name: string) => control.services.pipelines.create({ name, plan: [[task]], fullSync: true })
    const { id } = await run('alone')
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_COMPLETED', message: '' })
    const alone = await stored()
    expect(alone.cicd_pipelines?.length).toBe(PIPELINES)
    const both = await Promise.all(['one', 'two', 'three'].map(run))
    const tasks: Task[] = []
    for (const each of both) {
      expect(await untilFinished(control, each.id)).toMatchObject({ status: 'TASK_COMPLETED', message: '' })
      tasks.push(...(await control.services.pipelines.tasks(each.id)))
    }
    expect(await stored()).toEqual(alone)
    const [first, second, third] = tasks.toSorted((one, other) => Number(one.beganAt) - Number(other.beganAt))
    expect(Number(second?.beganAt)).toBeGreaterThanOrEqual(Number(first?.finishedAt))
    expect(Number(third?.beganAt)).toBeGreaterThanOrEqual(Number(second?.finishedAt))
  })

  it('is the same for plugins of one family, by whatever name, and so are a repository and a project', async () => {
    const { id: connectionId } = await control.services.connections.create('github', { name: 'hub', token: 'x' })
    const [scope] = await control.services.scopes.put('github', connectionId, [
      { githubId: 5, name: 'web', fullName: 'acme/web' },
    ])
    expect(scope).toBeDefined()
    const leases = (plugin: string, options: Record<string, unknown>) =>
      leasesOfTask(test.database, plugins, { plugin, options: { connectionId, ...options } })
    const own = [`github ${connectionId} 5`]
    expect(await leases('github', { githubId: 5, fullName: 'acme/web' })).toEqual(own)
    expect(await leases('github_graphql', { fullName: 'acme/web' })).toEqual(own)
    expect(await leases('github_graphql', { githubId: 5, fullName: 'acme/former' })).toEqual(own)
    expect(await leases('github', { fullName: 'acme/other' })).toEqual([])
    const repository = [`repository github:GithubRepo:${connectionId}:5`]
    const repoId = `github:GithubRepo:${connectionId}:5`
    expect(await leases('gitextractor', { repoId })).toEqual(repository)
    expect(await leases('refdiff', { repoId })).toEqual(repository)
    const github = plugins.find(({ name }) => name === 'github')
    const row = { connection_id: connectionId, github_id: 5, full_name: 'acme/web' }
    expect(new Set(leasesOfScope(plugins, github!.source!, connectionId, row))).toEqual(
      new Set([...own, ...repository]),
    )
    for (const plugin of ['dora', 'refdiff']) {
      expect(await leases(plugin, { projectName: 'Web' })).toEqual(['project Web'])
    }
    expect(await leases('org', { projectMappings: [{ projectName: 'Web', scopes: [] }] })).toEqual(['project Web'])
    expect(await leases('webhook', {})).toEqual([`webhook ${connectionId}`])
  })
})
