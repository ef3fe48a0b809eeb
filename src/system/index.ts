/** Every table of the framework. A module named here exports tables and nothing else. */
import type { Table } from '../database/table.ts'
import * as access from './access.ts'
import * as alerts from './alerts.ts'
import * as dashboards from './dashboards.ts'
import * as deliveries from './deliveries.ts'
import * as pipelines from './pipelines.ts'
import * as projects from './projects.ts'
import * as runs from './runs.ts'
import * as state from './state.ts'

export const systemTables: readonly Table<any>[] = [
  projects,
  pipelines,
  runs,
  state,
  access,
  deliveries,
  alerts,
  dashboards,
].flatMap((module) => Object.values<Table<any>>(module))
