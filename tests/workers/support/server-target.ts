/** A server process of a test, which runs tasks itself or hands them out. */
import { openDatabase } from '../../../src/database/open.ts'
import { createLog } from '../../../src/log.ts'
import { startRunner } from '../../../src/runner/runner.ts'
import { createTaskThreads } from '../../../src/runner/task-threads.ts'
import { createQueueDispatch } from '../../../src/runner/workers/queue-dispatch.ts'
import { SECRET_KEY, testControl } from '../../pipelines/support/test-control.ts'

export interface ServerTarget {
  readonly url: string
  readonly dataFolder: string
  readonly leaseMs: number
  /** The address of the file that exports its plugins. */
  readonly plugins: string
  readonly runTasksOn?: 'server' | 'workers'
}

const target = JSON.parse(process.argv[2] ?? '{}') as ServerTarget
const { url, dataFolder, leaseMs, plugins: pluginModule, runTasksOn = 'workers' } = target
const { plugins } = await import(pluginModule)
const database = await openDatabase(url)
const control = testControl(database, { dataFolder, plugins })
const runner = await startRunner(control, {
  dispatch:
    runTasksOn === 'server'
      ? createTaskThreads({ databaseUrl: url, secretKey: SECRET_KEY, dataFolder, pluginModule })
      : createQueueDispatch({ database, log: createLog('silent'), version: 'test', leaseMs }),
  consume: true,
  maxParallel: 0,
  resume: true,
  leaseMs,
})
process.once('SIGTERM', async () => {
  await runner.stop()
  await database.close()
})
console.log('ready')
