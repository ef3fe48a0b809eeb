import type { Database } from '../database/database.ts'
import { type ControlPlane, createControlPlane } from '../pipelines/control-plane.ts'
import { createNotify } from '../pipelines/notify.ts'
import { withSubtaskDefaults } from '../pipelines/plan/select-subtasks.ts'
import { plugins } from '../plugins/index.ts'
import { openSecrets } from '../secrets.ts'
import type { Runtime } from './runtime.ts'

/** Everything that can be done with configuration and runs, on an open database. */
export function openControl({ config, log }: Pick<Runtime, 'config' | 'log'>, database: Database): ControlPlane {
  const { dataFolder, encryptionSecret, subtaskDefaults, notificationEndpoint, notificationSecret } = config
  return createControlPlane({
    database,
    plugins: withSubtaskDefaults(plugins, subtaskDefaults),
    secrets: openSecrets(dataFolder, encryptionSecret),
    dataFolder,
    log,
    ...(notificationEndpoint && { notify: createNotify(database, log, notificationEndpoint, notificationSecret) }),
  })
}
