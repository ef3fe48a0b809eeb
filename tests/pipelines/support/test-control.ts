import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ControlPlane } from '../../../src/control-plane/control-plane.ts'
import type { Pipeline, Task } from '../../../src/control-plane/records.ts'
import { isFinished } from '../../../src/control-plane/runs/states.ts'
import type { ServiceContext } from '../../../src/control-plane/services.ts'
import type { Database } from '../../../src/database/database.ts'
import { migrate } from '../../../src/database/migrate.ts'
import { createLog } from '../../../src/log.ts'
import type { PlanTask } from '../../../src/plugin-kit/spec/plan.ts'
import { behindFence, createFence } from '../../../src/runner/fence.ts'
import { runTask } from '../../../src/runner/run-task.ts'
import { type Runner, type RunnerOptions, startRunner } from '../../../src/runner/runner.ts'
import type { TaskDispatch } from '../../../src/runner/task-dispatch.ts'
import { createTaskThreads } from '../../../src/runner/task-threads.ts'
import { createSecrets } from '../../../src/secrets/secrets.ts'
import { createControlPlane } from '../../../src/start/create-control-plane.ts'
import { systemTables } from '../../../src/system/index.ts'
import { marks, plugins, runs, type TestOptions } from './test-plugins.ts'

export const SECRET_KEY = 'a key that is only used in tests'
export const pluginModule = new URL('./test-plugins.ts', import.meta.url).href

export const prepareTestDatabase = (database: Database): Promise<void> =>
  migrate(database, [...systemTables, marks, runs])

export const testControl = (
  database: Database,
  context: Partial<Pick<ServiceContext, 'dataFolder' | 'plugins'>> = {},
): ControlPlane =>
  createControlPlane({
    database,
    plugins,
    secrets: createSecrets(SECRET_KEY),
    dataFolder: context.dataFolder ?? mkdtempSync(join(tmpdir(), 'weir-control-')),
    log: createLog('silent'),
    ...context,
  })

/** Threads for all runners of a file, because starting them takes longer than most tests. */
export const testThreads = (control: ControlPlane, databaseUrl: string): TaskDispatch =>
  createTaskThreads({
    databaseUrl,
    secretKey: SECRET_KEY,
    dataFolder: control.context.dataFolder,
    pluginModule,
  })

/** Runs tasks without threads, because loading their code would take most of the time. */
export function inProcess({ context }: ControlPlane): TaskDispatch {
  const fence = createFence()
  const environment = { ...context, database: behindFence(context.database.until(new AbortController().signal), fence) }
  return {
    fence,
    run: async ({ id }, signal, begin) => ((await begin()) ? runTask(environment, id, signal) : undefined),
    close: async () => {},
  }
}

/** Starts a runner that leaves the threads running when it stops. */
export const testRunner = (
  control: ControlPlane,
  dispatch: TaskDispatch,
  options: Partial<RunnerOptions> = {},
): Promise<Runner> =>
  startRunner(control, {
    dispatch: { ...dispatch, close: async () => {} },
    consume: true,
    maxParallel: 0,
    resume: true,
    // Runs that begin by themselves would disturb tests that count runs.
    calculationDelayMs: 86_400_000,
    ...options,
  })

export const paint = (options: TestOptions, subtasks: readonly string[] = []): PlanTask => ({
  plugin: 'paint',
  subtasks,
  options,
})

const LONGEST_PAUSE_MS = 100

/**
 * Asks until the answer is truthy. The time limit of the test ends it otherwise. The longer it waits, the longer it pauses:
 * tests that wait for a minute would keep the database busy for that long.
 */
export async function until<Value>(ask: () => Promise<Value | undefined | false>): Promise<Value> {
  const begun = performance.now()
  for (;;) {
    const answer = await ask()
    if (answer) return answer
    await sleep(Math.min(5 + (performance.now() - begun) / 10, LONGEST_PAUSE_MS))
  }
}

export const untilFinished = ({ services }: ControlPlane, id: number): Promise<Pipeline> =>
  until(async () => {
    const pipeline = await services.pipelines.get(id)
    return isFinished(pipeline.status) && pipeline
  })

/** States by their place in the plan, such as `1.1 TASK_COMPLETED`. */
export const statesOf = (tasks: readonly Task[]): string[] =>
  tasks.map(({ pipelineRow, pipelineCol, status }) => `${pipelineRow}.${pipelineCol} ${status}`).sort()
