/** All tables of the framework. The modules imported here must export only tables. */
import type { AnyTable, SchemaOf } from '../database/table.ts'
import * as access from './access.ts'
import * as alerts from './alerts.ts'
import * as dashboards from './dashboards.ts'
import * as deliveries from './deliveries.ts'
import * as groups from './groups.ts'
import * as pipelines from './pipelines.ts'
import * as projects from './projects.ts'
import * as runs from './runs.ts'
import * as state from './state.ts'
import * as traffic from './traffic.ts'
import * as workers from './workers.ts'

const modules = [projects, pipelines, runs, state, access, deliveries, alerts, dashboards, workers, groups, traffic]

type TablesIn<Module> = Module extends unknown ? Module[keyof Module] : never
declare module '../database/kysely.ts' {
  interface Schema extends SchemaOf<TablesIn<(typeof modules)[number]>> {}
}

export const systemTables: readonly AnyTable[] = modules.flatMap((module) => Object.values<AnyTable>(module))
