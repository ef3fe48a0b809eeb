import { sql } from 'kysely'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { readAll } from '../../src/database/read.ts'
import { cicdPipelineCommits, cicdPipelines, cicdTasks } from '../../src/domain/devops.ts'
import { collectCheckpoints } from '../../src/plugin-kit/raw/collect-tables.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { receipts } from '../../src/plugin-kit/raw/receipts.ts'
import { circleci } from '../../src/plugins/circleci/plugin.ts'
import { allTables } from '../../src/tables.ts'
import { type FakeCircleci, pipeline, startFakeCircleci } from '../fake-circleci/fake-circleci.ts'
import { describeEachWithTables } from '../support/databases.ts'
import { emptyTables } from '../support/empty-tables.ts'
import { runSubtask } from '../support/run-subtask.ts'

const OPTIONS = { connectionId: 1, projectSlug: 'github/acme/web', scopeConfig: { deploymentPattern: 'deploy' } }

describeEachWithTables('collecting', (test) => {
  let fake: FakeCircleci
  beforeEach(async () => {
    await fake?.stop()
    fake = await startFakeCircleci(50)
    await emptyTables(test.database, allTables)
    await test.database.kysely
      .insertInto('_tool_circleci_connections')
      .values({ id: 1, name: 'ci', endpoint: fake.url, token: 'secret-token', proxy: '', rate_limit_per_hour: 0 })
      .execute()
  })
  afterAll(() => fake?.stop())

  const run = (name: string, options: Parameters<typeof runSubtask>[4] = {}) =>
    runSubtask(test.database, circleci, name, OPTIONS, options)
  const runAll = async () => {
    for (const { name, isDefault } of circleci.subtasks) if (isDefault) await run(name)
  }
  const count = async (table: string) => {
    const { rows } = await sql<{ count: number }>`select count(*) as count from ${sql.table(table)}`.execute(
      test.database.kysely,
    )
    return rows[0]?.count
  }
  const receiptOf = async (raw: string) =>
    (await readAll(test.database, { table: receipts, where: { raw_table: `_raw_${raw}` } }))[0]

  it('goes from the vendor to the domain, and asks only for news the second time', async () => {
    await runAll()
    expect(await count(cicdPipelines.name)).toBe(50)
    expect(await count(cicdTasks.name)).toBe(100)
    expect(await count(cicdPipelineCommits.name)).toBe(50)
    expect(await receiptOf('circleci_api_pipelines')).toMatchObject({ status: 'complete', received: 50, stored: 50 })
    const [task] = await readAll(test.database, { table: cicdTasks, where: { name: 'deploy' } })
    expect(task).toMatchObject({ type: 'DEPLOYMENT', environment: 'PRODUCTION', result: 'SUCCESS', duration_sec: 30 })

    fake.requests.length = 0
    await runAll()
    expect(fake.requests).toEqual(['/v2/me/collaborations', expect.stringMatching(/pipeline$/)])
    expect(await count('_raw_circleci_api_users')).toBe(1)

    fake.pipelines.unshift(pipeline(51, new Date(Date.now() + 1000)))
    fake.requests.length = 0
    await runAll()
    expect(await count(cicdPipelines.name)).toBe(51)
    expect(fake.requests.filter((path) => path.includes('/workflow'))).toHaveLength(2)
  })

  it('asks again for what was not final', async () => {
    fake.workflowStatus = 'running'
    await runAll()
    const results = async () =>
      new Set((await readAll(test.database, { table: cicdPipelines })).map(({ status }) => status))
    expect(await results()).toEqual(new Set(['OTHER']))
    fake.workflowStatus = 'success'
    await runAll()
    expect(await results()).toEqual(new Set(['DONE']))
  })

  it('continues after a failure from the page that failed', async () => {
    const page = async (start: number) => fake.requests.filter((path) => path.includes(`page-token=${start}`)).length
    const controller = new AbortController()
    const stopped = run('collectPipelines', {
      signal: controller.signal,
      progress: ({ done }) => done === 40 && controller.abort(new Error('cut off')),
    })
    await expect(stopped).rejects.toThrow('cut off')
    expect(await count(rawTable('circleci_api_pipelines').name)).toBe(40)
    expect(await receiptOf('circleci_api_pipelines')).toMatchObject({ status: 'failed', message: 'cut off' })
    expect(await count(collectCheckpoints.name)).toBe(1)
    fake.requests.length = 0
    await run('collectPipelines')
    // It also asks for the newest once more, for everything that changed in the meantime.
    expect(fake.requests).toHaveLength(2)
    expect(await page(40)).toBe(1)
    expect(await count(rawTable('circleci_api_pipelines').name)).toBe(50)
    expect(await count(collectCheckpoints.name)).toBe(0)
  })

  it('replaces raw rows in a full run only when all of it has arrived', async () => {
    await run('collectPipelines')
    fake.pipelines.length = 30
    fake.failures.push({ path: '/pipeline', status: 400 })
    const lost = await run('collectPipelines', { fullSync: true })
    expect(lost).toMatchObject({ list: 'lost', remarks: [expect.stringContaining('400')] })
    expect(await count(rawTable('circleci_api_pipelines').name)).toBe(50)
    await run('collectPipelines', { fullSync: true })
    expect(await count(rawTable('circleci_api_pipelines').name)).toBe(30)
  })

  it('takes a status that means "nothing here" for an answer', async () => {
    await run('collectPipelines')
    await run('extractPipelines')
    fake.failures.push({ path: '/pipeline/pipeline-7/workflow', status: 404 })
    await run('collectWorkflows')
    expect(await count(rawTable('circleci_api_workflows').name)).toBe(49)
  })

  it('names the connection and what to check when the token is refused', async () => {
    await test.database.kysely.updateTable('_tool_circleci_connections').set({ token: 'wrong-token' }).execute()
    const refused = run('collectPipelines')
    await expect(refused).rejects.toThrow(/"ci"/)
    await expect(refused).rejects.not.toThrow(/wrong-token/)
  })
})
