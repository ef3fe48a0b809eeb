/** The thread that runs tasks, one at a time, with a small database pool of its own. */
import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { addressSecrets } from '../address-secrets.ts'
import { readConfig, secretsOf } from '../config.ts'
import { withSubtaskDefaults } from '../control-plane/plan/select-subtasks.ts'
import { openDatabase } from '../database/open.ts'
import { keepSecret } from '../log.ts'
import { flushTraces, startTracing } from '../observe/tracing.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import { createSecrets } from '../secrets.ts'
import { behindFence, createFence } from './fence.ts'
import { failedBy, runTask, type TaskEnvironment } from './run-task.ts'
import type { TaskOutcome } from './task-dispatch.ts'

export interface WorkerSetup {
  readonly databaseUrl: string
  readonly secretKey: string
  readonly dataFolder: string
  /** Address of a module that exports `plugins`. */
  readonly pluginModule: string
  readonly subtaskDefaults?: readonly string[]
  readonly fenceMemory: SharedArrayBuffer
}
export type ToWorker = { readonly run: number } | { readonly abort: number }
export interface FromWorker {
  readonly taskId: number
  readonly outcome: TaskOutcome
}

/** Reading a table, writing another, a lookup and the progress at once. */
const CONNECTIONS = 5

const setup = workerData as WorkerSetup
const config = readConfig(process.env)
for (const secret of [setup.secretKey, ...addressSecrets(setup.databaseUrl), ...secretsOf(config)]) {
  keepSecret(secret)
}
// On Linux this concerns the calling thread alone: whoever waits for the API comes first.
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
/** Opened again after a failure: the database may have been away. */
const opened = (): Promise<TaskEnvironment> => {
  environment ??= open().catch((error) => {
    environment = undefined
    throw error
  })
  return environment
}
// Before the first task comes; a failure is told to whoever asks for one.
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
  // The thread may end with its task.
  await flushTraces()
  parentPort?.postMessage({ taskId, outcome } satisfies FromWorker)
})
