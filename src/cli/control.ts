import { userInfo } from 'node:os'
import type { Actor } from '../control-plane/audit/record.ts'
import type { ControlPlane } from '../control-plane/control-plane.ts'
import { withSubtaskDefaults } from '../control-plane/plan/select-subtasks.ts'
import type { Database } from '../database/database.ts'
import { plugins } from '../plugins/index.ts'
import { createNotify } from '../runner/notify.ts'
import { openSecrets } from '../secrets/encryption-key.ts'
import { createControlPlane } from '../start/create-control-plane.ts'
import type { Runtime } from './runtime.ts'

/** The user who runs a command. */
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
