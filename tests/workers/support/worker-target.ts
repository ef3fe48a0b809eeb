/** A worker process, which a test stops, kills and freezes. */
import { openDatabase } from '../../../src/database/open.ts'
import { createTaskThreads } from '../../../src/runner/task-threads.ts'
import { startWorkerProcess } from '../../../src/runner/workers/worker-process.ts'
import { SECRET_KEY, testControl } from '../../pipelines/support/test-control.ts'

export interface WorkerTarget {
  readonly url: string
  readonly dataFolder: string
  readonly leaseMs: number
  readonly concurrency: number
  readonly drainMs: number
  /** The address of the file that exports its plugins. */
  readonly plugins: string
}

const target = JSON.parse(process.argv[2] ?? '{}') as WorkerTarget
const { url, dataFolder, leaseMs, concurrency, drainMs, plugins: pluginModule } = target
const { plugins } = await import(pluginModule)
const database = await openDatabase(url)
const { context } = testControl(database, { dataFolder, plugins })
const worker = await startWorkerProcess(context, {
  threads: createTaskThreads({ databaseUrl: url, secretKey: SECRET_KEY, dataFolder, pluginModule }),
  concurrency,
  leaseMs,
  version: 'test',
})
process.once('SIGTERM', async () => {
  await worker.stop(drainMs)
  await database.close()
})
console.log('ready')
