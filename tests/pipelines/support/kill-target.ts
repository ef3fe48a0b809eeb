/** A server that runs what is queued and ends when nothing is left, for a test that kills it somewhere on the way. */
import { openDatabase } from '../../../src/database/open.ts'
import { runTask } from '../../../src/pipelines/run-task.ts'
import type { TaskDispatch } from '../../../src/pipelines/task-dispatch.ts'
import { testControl, testRunner, until } from './test-control.ts'

const [url = '', dataFolder = '', maxParallel = '0'] = process.argv.slice(2)
const database = await openDatabase(url)
const control = testControl(database, { dataFolder })
// Without threads: loading their code would take most of the time, and most of the kills.
const dispatch: TaskDispatch = {
  run: async ({ id }, signal, begin) => ((await begin()) ? runTask(control.context, id, signal) : undefined),
  close: async () => {},
}
console.log('begins')
const runner = await testRunner(control, dispatch, { maxParallel: Number(maxParallel) })
await until(async () => (await control.services.pipelines.list({ pending: true })).count === 0)
await runner.stop()
await database.close()
