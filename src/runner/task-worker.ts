/** The thread that runs tasks, with its own small database pool. Several run at the same time only if they share a connection. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { readConfig, secretsOf } from '../config/config.ts'
import { withSubtaskDefaults } from '../control-plane/plan/select-subtasks.ts'
import { openDatabase } from '../database/open.ts'
import { keepSecret } from '../log.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import { addressSecrets } from '../secrets/address-secrets.ts'
import { createSecrets } from '../secrets/secrets.ts'
import { flushTraces, startTracing } from '../telemetry/events/tracing.ts'
import { behindFence, createFence } from './fence.ts'
import { failedBy, runTask, type TaskEnvironment } from './run-task.ts'
import type { TaskOutcome } from './task-dispatch.ts'

export interface WorkerSetup {
  readonly databaseUrl: string
  readonly secretKey: string
  readonly dataFolder: string
  /** The address of a module that exports `plugins`. */
  readonly pluginModule: string
  readonly subtaskDefaults?: readonly string[]
  readonly fenceMemory: SharedArrayBuffer
}
export type ToWorker = { readonly run: number } | { readonly abort: number }
export interface FromWorker {
  readonly taskId: number
  readonly outcome: TaskOutcome
}

/** Enough to read a table, write another, look something up and store the progress at the same time. */
const CONNECTIONS = 5

const setup = workerData as WorkerSetup
const config = readConfig(process.env)
for (const secret of [setup.secretKey, ...addressSecrets(setup.databaseUrl), ...secretsOf(config)]) {
  keepSecret(secret)
}
// On Linux this sets the priority of the calling thread only, so that API requests are answered first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW)

const fence = createFence(setup.fenceMemory)

async function open(): Promise<TaskEnvironment> {
  const [{ plugins }, database] = await Promise.all([
    import(setup.pluginModule) as Promise<{ plugins: readonly Plugin[] }>,
    openDatabase(setup.databaseUrl, CONNECTIONS),
    startTracing(config),
  ])
  return {
    database: behindFence(database, fence),
    plugins: withSubtaskDefaults(plugins, setup.subtaskDefaults ?? []),
    secrets: createSecrets(setup.secretKey),
    dataFolder: setup.dataFolder,
  }
}
let environment: Promise<TaskEnvironment> | undefined
/** Opened again after a failure, because the database may have been unreachable. */
const opened = (): Promise<TaskEnvironment> => {
  environment ??= open().catch((error) => {
    environment = undefined
    throw error
  })
  return environment
}
// Opens everything before the first task arrives. A failure is reported to the next task.
opened().catch(() => {})

const running = new Map<number, AbortController>()

parentPort?.on('message', async (message: ToWorker) => {
  if ('abort' in message) return running.get(message.abort)?.abort()
  const taskId = message.run
  const abort = new AbortController()
  running.set(taskId, abort)
  const outcome = await opened()
    .then((ready) =>
      runTask(ready, taskId, abort.signal).catch((error) => failedBy(ready.database.explain(error) ?? error)),
    )
    .catch((error) => failedBy(error))
  running.delete(taskId)
  // The thread may be ended after its task.
  await flushTraces()
  parentPort?.postMessage({ taskId, outcome } satisfies FromWorker)
})
