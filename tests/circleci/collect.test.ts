/** Changes at CircleCI after a pipeline was collected: later workflows, reruns, jobs that continue. */
import { afterEach, beforeEach, expect, it } from 'vitest'
import { circleci } from '../../src/plugins/circleci/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../fake-circleci/fake-circleci.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { runSubtask } from '../support/run-subtask.ts'

const OPTIONS = { connectionId: 1, projectSlug: 'github/acme/web', scopeConfig: { deploymentPattern: 'deploy' } }
const DAY = 24 * 60 * 60 * 1000

describeOneWithTables('collecting from circleci', (test) => {
  let fake: FakeCircleci
  /** Sets the fake's clock before now, so that no event of a test falls into the second in which the last run began. */
  const ago = (milliseconds: number) => {
    const time = new Date(Date.now() - milliseconds)
    fake.now = () => time
  }
  beforeEach(async () => {
    fake = await startFakeCircleci(0)
    await emptyTables(test.database, allTables)
    await test.database.kysely
      .insertInto('_tool_circleci_connections')
      .values({ id: 1, name: 'ci', endpoint: fake.url, token: TOKEN, proxy: '', rate_limit_per_hour: 0 })
      .execute()
  })
  afterEach(() => fake.stop())
  const runAll = async () => {
    for (const { name, isDefault } of circleci.subtasks)
      if (isDefault) await runSubtask(test.database, circleci, name, OPTIONS)
  }
  const all = async (table: string, ...columns: string[]): Promise<any[]> =>
    test.database.kysely
      .selectFrom(table)
      .select(columns)
      .orderBy(columns[0] as string)
      .execute()
  const workflows = () => all('_tool_circleci_workflows', 'id', 'status')
  const tasks = () => all('cicd_tasks', 'id', 'original_status')

  it('collects a workflow that is run again, with its jobs', async () => {
    ago(3_600_000)
    const { id } = fake.createPipeline()
    const failed = fake.addWorkflow(id, { status: 'failed' })
    fake.addJob(failed.id, { status: 'failed' })
    await runAll()
    expect(await workflows()).toEqual([{ id: failed.id, status: 'failed' }])
    const rerun = fake.rerunWorkflow(failed.id)
    await runAll()
    expect(await workflows()).toEqual([
      { id: failed.id, status: 'failed' },
      { id: rerun.id, status: 'success' },
    ])
    expect((await tasks()).map(({ original_status }) => original_status).sort()).toEqual(['failed', 'success'])
    expect(await all('cicd_pipelines', 'original_status')).toHaveLength(2)
  })

  it('collects a workflow that starts after its pipeline was asked for workflows', async () => {
    ago(3_600_000)
    const { id } = fake.createPipeline({ state: 'setup' })
    await runAll()
    expect(await workflows()).toEqual([])
    fake.setPipelineState(id, 'created')
    const late = fake.addWorkflow(id)
    fake.addJob(late.id)
    await runAll()
    expect(await workflows()).toEqual([{ id: late.id, status: 'success' }])
    expect(await tasks()).toHaveLength(1)
    expect(await all('_tool_circleci_pipelines', 'state')).toEqual([{ state: 'created' }])
  })

  it('asks again for all jobs of a workflow that continued, however many they are', async () => {
    ago(3_600_000)
    const { id } = fake.createPipeline()
    const going = fake.addWorkflow(id, { status: 'running' })
    const jobs = Array.from({ length: 30 }, () => fake.addJob(going.id, { status: 'running' }))
    await runAll()
    // From here on the workflow itself does not change.
    await runAll()
    fake.addJob(going.id, { status: 'success', name: 'added' })
    for (const job of jobs) fake.setJobStatus(going.id, job.id, 'success')
    await runAll()
    expect(await tasks()).toHaveLength(31)
    expect(new Set((await tasks()).map(({ original_status }) => original_status))).toEqual(new Set(['success']))
    fake.setWorkflowStatus(going.id, 'success')
    await runAll()
    expect(await workflows()).toEqual([{ id: going.id, status: 'success' }])
  })

  it('looks back a week, and further only at what may still change', async () => {
    ago(30 * DAY)
    const held = fake.createPipeline()
    const workflow = fake.addWorkflow(held.id, { status: 'on_hold' })
    const old = fake.createPipeline()
    fake.addWorkflow(old.id)
    ago(6 * DAY)
    const recent = fake.createPipeline()
    fake.addWorkflow(recent.id)
    await runAll()
    fake.setWorkflowStatus(workflow.id, 'success')
    fake.requests.length = 0
    await runAll()
    const asked = () => fake.requests.filter((path) => path.endsWith('/workflow')).sort()
    expect(asked()).toEqual([held.id, recent.id].map((id) => `/v2/pipeline/${id}/workflow`).sort())
    fake.requests.length = 0
    await runAll()
    expect(asked()).toEqual([`/v2/pipeline/${recent.id}/workflow`])
  })
})
