/** The effect of a start date on runs of a blueprint and on other runs, and of removing it. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Runner, startRunner } from '../../src/runner/runner.ts'
import { createTaskThreads } from '../../src/runner/task-threads.ts'
import { collectorLatestState } from '../../src/system/state.ts'
import { SECRET_KEY, startTestApi, type TestApi } from '../api/support/test-api.ts'
import { type FakeCircleci, startFakeCircleci, TOKEN } from '../fake-circleci/fake-circleci.ts'
import { describeOneWithTables } from '../support/databases.ts'
import { untilFinished } from './support/test-control.ts'

const SLUG = 'github/acme/web'
const START = new Date('2020-01-01T00:00:00Z')
const PLAN = [[{ plugin: 'circleci', subtasks: [], options: { connectionId: 1, projectSlug: SLUG } }]]

describeOneWithTables('a start date', (test) => {
  let api: TestApi
  let runner: Runner
  let fake: FakeCircleci
  let blueprintId: number

  beforeAll(async () => {
    api = await startTestApi(test.database)
    fake = await startFakeCircleci(5)
    runner = await startRunner(api.control, {
      dispatch: createTaskThreads({
        databaseUrl: test.url,
        secretKey: SECRET_KEY,
        dataFolder: api.dataFolder,
        pluginModule: new URL('../../src/plugins/index.ts', import.meta.url).href,
      }),
      consume: true,
      maxParallel: 1,
      resume: true,
    })
    const { services } = api.control
    await services.connections.create('circleci', { name: 'ci', endpoint: fake.url, token: TOKEN })
    await services.scopes.put('circleci', 1, [{ id: 'u1', slug: SLUG, name: 'web' }])
    const connections = [{ pluginName: 'circleci', connectionId: 1, scopes: [{ scopeId: 'u1' }] }]
    const project = await services.projects.create({ name: 'web', blueprint: { timeAfter: START, connections } })
    blueprintId = project.blueprint?.id ?? 0
  })
  afterAll(async () => {
    await runner?.stop()
    await fake?.stop()
    await api?.close()
  })

  const finished = async ({ id, timeAfter }: { readonly id: number; readonly timeAfter: Date | null }) => {
    expect((await untilFinished(api.control, id)).status).toBe('TASK_COMPLETED')
    return timeAfter
  }
  const trigger = async () => finished(await api.control.services.blueprints.trigger(blueprintId))
  /** Returns the time at which the stored data of the pipelines begins. */
  const stored = async () => {
    const row = await test.database.kysely
      .selectFrom(collectorLatestState.name)
      .select('time_after')
      .where('raw_data_table', '=', '_raw_circleci_api_pipelines')
      .executeTakeFirstOrThrow()
    return row.time_after
  }

  it('of a blueprint holds for its runs, and for those that are started for it', async () => {
    const { services } = api.control
    expect(await trigger()).toEqual(START)
    expect(await stored()).toEqual(START)
    const again = await services.pipelines.create({ name: 'again', plan: PLAN, blueprintId })
    expect(await finished(again)).toEqual(START)
    expect(await stored()).toEqual(START)
  })

  it('stays as it is when a run of no blueprint says nothing of it', async () => {
    expect(await finished(await api.control.services.pipelines.create({ name: 'alone', plan: PLAN }))).toBeNull()
    expect(await stored()).toEqual(START)
  })

  it('that is taken away lets the next run collect everything', async () => {
    await api.control.services.blueprints.update(blueprintId, () => ({ timeAfter: null }))
    expect(await trigger()).toBeNull()
    expect(await stored()).toBeNull()
  })
})
