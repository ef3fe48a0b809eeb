/** The control plane with the real plugins, without a runner. */
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ControlPlane } from '../../../src/control-plane/control-plane.ts'
import type { Database } from '../../../src/database/database.ts'
import { createLog } from '../../../src/log.ts'
import { plugins } from '../../../src/plugins/index.ts'
import { createSecrets } from '../../../src/secrets/secrets.ts'
import { createControlPlane } from '../../../src/start/create-control-plane.ts'
import { SECRET_KEY } from './test-control.ts'

export const realControl = (database: Database): ControlPlane =>
  createControlPlane({
    database,
    plugins,
    secrets: createSecrets(SECRET_KEY),
    dataFolder: mkdtempSync(join(tmpdir(), 'weir-control-')),
    log: createLog('silent'),
  })
