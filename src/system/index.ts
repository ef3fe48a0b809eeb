/** Every table of the framework. A module named here exports tables and nothing else. */
import type { AnyTable } from '../database/table.ts'
import * as access from './access.ts'
import * as alerts from './alerts.ts'
import * as dashboards from './dashboards.ts'
import * as deliveries from './deliveries.ts'
import * as pipelines from './pipelines.ts'
import * as projects from './projects.ts'
import * as runs from './runs.ts'
import * as state from './state.ts'
import * as workers from './workers.ts'

export const systemTables: readonly AnyTable[] = [
  projects,
  pipelines,
  runs,
  state,
  access,
  deliveries,
  alerts,
  dashboards,
  workers,
].flatMap((module) => Object.values<AnyTable>(module))
