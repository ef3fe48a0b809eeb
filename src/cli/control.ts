import { userInfo } from 'node:os'
import type { Actor } from '../audit/record.ts'
import type { Database } from '../database/database.ts'
import { openSecrets } from '../encryption-key.ts'
import { type ControlPlane, createControlPlane } from '../pipelines/control-plane.ts'
import { createNotify } from '../pipelines/notify.ts'
import { withSubtaskDefaults } from '../pipelines/plan/select-subtasks.ts'
import { plugins } from '../plugins/index.ts'
import type { Runtime } from './runtime.ts'

/** Whoever runs a command. */
export function commandLineActor(): Actor {
  const { username } = userInfo()
  return { id: `command-line:${username}`, name: username, email: '', address: 'command line' }
}

/** Everything that can be done with configuration and runs, on an open database. */
export async function openControl(
  { config, log }: Pick<Runtime, 'config' | 'log'>,
  database: Database,
): Promise<ControlPlane> {
  const { dataFolder, subtaskDefaults, notificationEndpoint, notificationSecret } = config
  return createControlPlane({
    database,
    plugins: withSubtaskDefaults(plugins, subtaskDefaults),
    secrets: await openSecrets(database, config),
    dataFolder,
    log,
    ...(notificationEndpoint && { notify: createNotify(database, log, notificationEndpoint, notificationSecret) }),
  })
}
