/** The defects of all rooms. */
import { alerts } from './alerts.ts'
import { api } from './api.ts'
import { backup } from './backup.ts'
import { basics } from './basics.ts'
import { cli } from './cli.ts'
import { configAsCode } from './config-as-code.ts'
import { controlPlane } from './control-plane.ts'
import { dashboards } from './dashboards.ts'
import { database } from './database.ts'
import { domain } from './domain.ts'
import { metrics } from './metrics.ts'
import type { Plot } from './plot.ts'
import { pluginKit } from './plugin-kit.ts'
import { plugins } from './plugins.ts'
import { runner } from './runner.ts'
import { secrets } from './secrets.ts'
import { traffic } from './traffic.ts'
import { web } from './web.ts'

export const ROOMS: Readonly<Record<string, readonly Plot[]>> = {
  alerts,
  api,
  backup,
  basics,
  cli,
  'config-as-code': configAsCode,
  'control-plane': controlPlane,
  dashboards,
  database,
  domain,
  metrics,
  'plugin-kit': pluginKit,
  plugins,
  runner,
  secrets,
  traffic,
  web,
}
