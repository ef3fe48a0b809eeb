import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ControlPlane } from '../../src/control-plane/control-plane.ts'
import { migrate } from '../../src/database/migrate.ts'
import { readAll } from '../../src/database/read.ts'
import { write } from '../../src/database/write.ts'
import { domainTables } from '../../src/domain/index.ts'
import { quarantine } from '../../src/plugin-kit/raw/quarantine.ts'
import { rawTable } from '../../src/plugin-kit/raw/raw-table.ts'
import { type Runner, startRunner } from '../../src/runner/runner.ts'
import { createTaskThreads } from '../../src/runner/task-threads.ts'
import { systemTables } from '../../src/system/index.ts'
import { describeEachDatabase } from '../support/databases.ts'
import { boards, issues, params } from '../support/sample-plugin.ts'
import { busy, plugins } from './support/busy-plugins.ts'
import { SECRET_KEY, testControl, untilFinished } from './support/test-control.ts'

const busyRaw = rawTable('sample_issues')
/** Far more tasks than a thread has database connections. */
const TASKS = 64
/** More than a batch, so work on the first batch begins while the rest is still unread. */
const RECORDS = 1010

describeEachDatabase('many tasks on one connection', (test) => {
  let control: ControlPlane
  let runner: Runner
  beforeAll(async () => {
    await migrate(test.database, [...systemTables, ...domainTables, ...busy.tables, quarantine])
    control = testControl(test.database, { plugins })
    const dispatch = createTaskThreads({
      databaseUrl: test.url,
      secretKey: SECRET_KEY,
      dataFolder: control.context.dataFolder,
      pluginModule: new URL('./support/busy-plugins.ts', import.meta.url).href,
    })
    runner = await startRunner(control, { dispatch, consume: true, maxParallel: 0, resume: true })
  })
  afterAll(() => runner?.stop())

  it('all finish, though each needs a second connection of the database while it reads from one', {
    timeout: 120_000,
  }, async () => {
    const numbers = Array.from({ length: TASKS }, (_, index) => index + 1)
    await write(
      test.database,
      numbers.map((id) => boards.row({ connection_id: 1, id, name: `board ${id}` })),
    )
    for (const board of numbers) {
      // Only one record makes a row, because the test is not about writing.
      const records = Array.from({ length: RECORDS }, (_, index) => ({ id: board, board, title: index ? '' : 'one' }))
      await write(
        test.database,
        records.map((record) =>
          busyRaw.row({ params: params(board), data: Buffer.from(JSON.stringify(record)), url: '' }),
        ),
      )
    }
    const tasks = numbers.map((boardId) => ({
      plugin: 'sample',
      subtasks: ['extractIssues'],
      options: { connectionId: 1, boardId },
    }))
    const { id } = await control.services.pipelines.create({ name: 'many', plan: [tasks] })
    expect(await untilFinished(control, id)).toMatchObject({ status: 'TASK_COMPLETED', finishedTasks: TASKS })
    const rows = await readAll(test.database, { table: issues })
    expect(rows.map((row) => [row.id, row.body])).toEqual(numbers.map((each) => [each, `board ${each}`]))
  })
})
