/** A complete server for a test, with its own thresholds: API, pages, metrics and a runner. */
import { createServer } from '../../../src/api/server.ts'
import { startWatching } from '../../../src/cli/watching.ts'
import { readConfig } from '../../../src/config/config.ts'
import { openDatabase } from '../../../src/database/open.ts'
import { createLog } from '../../../src/log.ts'
import { startRunner } from '../../../src/runner/runner.ts'
import { createTaskThreads } from '../../../src/runner/task-threads.ts'
import { createQueueDispatch } from '../../../src/runner/workers/queue-dispatch.ts'
import { SECRET_KEY, testControl } from '../../pipelines/support/test-control.ts'
import { QUICK } from './thresholds.ts'

export interface ServerTarget {
  readonly url: string
  readonly dataFolder: string
  /** The address of the file that exports its plugins. */
  readonly plugins: string
  readonly runTasksOn?: 'server' | 'workers'
  /** If false, it starts no runs. */
  readonly consume?: boolean
}

const target = JSON.parse(process.argv[2] ?? '{}') as ServerTarget
const { url, dataFolder, plugins: pluginModule, runTasksOn = 'server', consume = true } = target
const { plugins } = await import(pluginModule)
const leaseMs = QUICK.silentMs
const config = readConfig({ DB_URL: url, DATA_FOLDER: dataFolder, RUN_TASKS_ON: runTasksOn })
const log = createLog('silent')
const database = await openDatabase(url)
const control = testControl(database, { dataFolder, plugins })
const { measures, standstill, stop } = await startWatching({ config, log }, control, QUICK)
const server = await createServer({ config, control, log, measures, standstill })
const runner = await startRunner(control, {
  dispatch:
    runTasksOn === 'workers'
      ? createQueueDispatch({ database, log, version: 'test', leaseMs })
      : createTaskThreads({ databaseUrl: url, secretKey: SECRET_KEY, dataFolder, pluginModule }),
  consume,
  maxParallel: 0,
  resume: true,
  leaseMs,
  calculationDelayMs: 86_400_000,
  tellStandstill: standstill.told,
})
standstill.start()
process.once('SIGTERM', async () => {
  await server.close()
  await runner.stop()
  await stop()
  await database.close()
})
console.log(`ready at ${await server.listen({ host: '127.0.0.1', port: 0 })}`)
