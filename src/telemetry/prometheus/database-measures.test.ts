import { beforeAll, expect, it } from 'vitest'
import { prepareTestDatabase } from '../../../tests/pipelines/support/test-control.ts'
import { describeEachDatabase } from '../../../tests/support/databases.ts'
import { insertRow, updateRows } from '../../control-plane/store.ts'
import { pipelines, tasks } from '../../system/pipelines.ts'
import { readQueue } from './database-measures.ts'

const HOUR = 3600

describeEachDatabase('the longest wait', (test) => {
  beforeAll(async () => {
    await prepareTestDatabase(test.database)
  })

  const kysely = () => test.database.kysely
  const oldestHours = async () => {
    const { oldest } = await readQueue(test)
    return Math.round((oldest[0]?.value ?? Number.NaN) / HOUR)
  }
  async function addRun(status: string, hours: number): Promise<number> {
    const created_at = new Date(Date.now() - hours * HOUR * 1000)
    const pipeline_id = await insertRow(kysely(), pipelines, { name: 'a run', status, created_at })
    const task = { plugin: 'any', pipeline_id, status: 'TASK_CREATED' }
    await insertRow(kysely(), tasks, task)
    return insertRow(kysely(), tasks, task)
  }

  it('is that of a run of which no task has begun, whether or not a server has taken it', async () => {
    expect(await oldestHours()).toBe(0)
    await addRun('TASK_COMPLETED', 9)
    await addRun('TASK_CREATED', 2)
    expect(await oldestHours()).toBe(2)
    const task = await addRun('TASK_RUNNING', 5)
    expect(await oldestHours()).toBe(5)
    await updateRows(kysely(), tasks, { id: task }, { status: 'TASK_RUNNING', began_at: new Date() })
    expect(await oldestHours()).toBe(2)
  })
})
