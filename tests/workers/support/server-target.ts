/** A server process of a test: it hands tasks out, and runs none. */
import { openDatabase } from '../../../src/database/open.ts'
import { createLog } from '../../../src/log.ts'
import { startRunner } from '../../../src/runner/runner.ts'
import { createQueueDispatch } from '../../../src/runner/workers/queue-dispatch.ts'
import { testControl } from '../../pipelines/support/test-control.ts'

const { url, dataFolder, leaseMs, plugins: module } = JSON.parse(process.argv[2] ?? '{}')
const { plugins } = await import(module)
const database = await openDatabase(url)
const control = testControl(database, { dataFolder, plugins })
const log = createLog('silent')
const runner = await startRunner(control, {
  dispatch: createQueueDispatch({ database, log, version: 'test', leaseMs }),
  ...{ consume: true, maxParallel: 0, resume: true, leaseMs },
})
process.once('SIGTERM', async () => {
  await runner.stop()
  await database.close()
})
console.log('ready')
