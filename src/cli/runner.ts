import type { Config } from '../config.ts'
import type { ControlPlane } from '../pipelines/control-plane.ts'
import { type Runner, startRunner } from '../pipelines/runner.ts'
import { createTaskThreads } from '../pipelines/task-threads.ts'
import { requireSameKey } from '../rotate-key.ts'

/** Runs pipelines in threads of this process, beside other servers of the same database. */
export async function startOwnRunner(config: Config, control: ControlPlane, databaseUrl: string): Promise<Runner> {
  const { database, secrets } = control.context
  const runner = await startRunner(control, {
    dispatch: createTaskThreads({
      databaseUrl,
      secretKey: control.context.secrets.key,
      dataFolder: config.dataFolder,
      pluginModule: new URL('../plugins/index.ts', import.meta.url).href,
      subtaskDefaults: config.subtaskDefaults,
    }),
    consume: config.consumePipelines,
    maxParallel: config.pipelineMaxParallel,
    resume: config.resumePipelines,
  })
  try {
    await requireSameKey(database, secrets)
    return runner
  } catch (error) {
    await runner.stop()
    throw error
  }
}
