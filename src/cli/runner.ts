import packageFile from '../../package.json' with { type: 'json' }
import type { Config } from '../config/config.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import type { Logger } from '../log.ts'
import { type Runner, startRunner } from '../runner/runner.ts'
import type { TellStandstill } from '../runner/servers.ts'
import type { TaskDispatch } from '../runner/task-dispatch.ts'
import { createTaskThreads } from '../runner/task-threads.ts'
import { createQueueDispatch } from '../runner/workers/queue-dispatch.ts'
import { closeFolders } from '../secrets/private-file.ts'
import { requireSameKey } from '../secrets/rotate-key.ts'
import type { Secrets } from '../secrets/secrets.ts'

export const { version } = packageFile

/** Called before anything is written to these folders. */
export function closeOwnFolders({ dataFolder }: Pick<Config, 'dataFolder'>, log: Logger): void {
  for (const folder of closeFolders(dataFolder)) {
    log.warn(`others on this machine can read ${folder}: set its mode to 0700`)
  }
}

/** Runs pipelines beside other servers of the same database. Their tasks run in threads of this process or, with RUN_TASKS_ON=workers, on workers. */
export async function startOwnRunner(
  config: Config,
  control: ControlPlane,
  databaseUrl: string,
  tellStandstill?: TellStandstill,
): Promise<Runner> {
  const { database, secrets, log } = control.context
  const hasWorkers = config.runTasksOn === 'workers'
  const runner = await startRunner(control, {
    dispatch: hasWorkers ? createQueueDispatch({ database, log, version }) : ownThreads(config, secrets, databaseUrl),
    consume: config.consumePipelines,
    maxParallel: config.pipelineMaxParallel ?? (hasWorkers ? 0 : 1),
    resume: config.resumePipelines,
    calculationDelayMs: config.calculationDelayMs,
    version,
    ...(tellStandstill && { tellStandstill }),
  })
  try {
    await requireSameKey(database, secrets)
    return runner
  } catch (error) {
    await runner.stop()
    throw error
  }
}

export const ownThreads = (config: Config, { key }: Secrets, databaseUrl: string): TaskDispatch =>
  createTaskThreads({
    databaseUrl,
    secretKey: key,
    dataFolder: config.dataFolder,
    pluginModule: new URL('../plugins/index.ts', import.meta.url).href,
    subtaskDefaults: config.subtaskDefaults,
  })
