import { sql } from 'kysely'
import type { ConfigContext } from '../../../src/config-as-code/context.ts'
import { allConnected } from '../../../src/control-plane/sources.ts'
import type { Database } from '../../../src/database/database.ts'
import { settingsTables } from '../../../src/plugin-kit/task/settings-tables.ts'
import { plugins } from '../../../src/plugins/index.ts'
import { createControlPlane } from '../../../src/start/create-control-plane.ts'
import { auditEntries } from '../../../src/system/access.ts'
import { groupProjects, personalViews, projectGroups, targets } from '../../../src/system/groups.ts'
import {
  blueprintConnections,
  blueprintLabels,
  blueprintScopes,
  blueprints,
  configTemplates,
  plans,
  projectMetricSettings,
  projects,
  scopeSelectors,
} from '../../../src/system/projects.ts'
import { anyTable } from '../../support/any-table.ts'
import { emptyTables } from '../../support/empty-tables.ts'
import type { TestApi } from './test-api.ts'

const SOMEBODY = { id: 'test', name: 'somebody', email: '', address: 'a test' }

/** The context of the command line, on the database of a test. */
export const configContext = ({ control: { context, services } }: Pick<TestApi, 'control'>): ConfigContext => ({
  control: context,
  services,
  actor: SOMEBODY,
  servicesOn: (database) => createControlPlane({ ...context, database }).servicesFor(SOMEBODY),
})

const TABLES = [
  projects,
  projectMetricSettings,
  blueprints,
  blueprintConnections,
  blueprintScopes,
  blueprintLabels,
  scopeSelectors,
  configTemplates,
  plans,
  projectGroups,
  groupProjects,
  targets,
  personalViews,
  ...allConnected(plugins).flatMap(({ table, source }) =>
    source ? [table, settingsTables(source).scopeConfigs, source.scope.table] : [table],
  ),
]

/** Returns all rows that make up the configuration, whoever wrote them. */
export async function storedConfiguration({ kysely }: Database): Promise<Record<string, any[]>> {
  const rows: Record<string, any[]> = {}
  for (const { name } of [...TABLES, auditEntries])
    rows[name] = await anyTable(kysely).selectFrom(name).selectAll().execute()
  return rows
}

export const clearConfiguration = (database: Database): Promise<void> => emptyTables(database, TABLES)

/** MariaDB answers `innodb_trx` from a copy that it renews only if nobody has read it for 100 ms, so tests must ask less often. */
export const LOCKS_ARE_KNOWN_AFTER = 250

/** Counts the statements that wait for a row lock. Ask at most every `LOCKS_ARE_KNOWN_AFTER` ms. */
export async function waitingForLocks({ kysely }: Database, engine: string): Promise<number> {
  const waits =
    engine === 'mysql'
      ? sql<{ count: number }>`select count(*) as count from information_schema.innodb_trx
          where trx_state = 'LOCK WAIT'`
      : sql<{ count: number }>`select count(*) as count from pg_stat_activity
          where wait_event_type = 'Lock' and datname = current_database()`
  const { rows } = await waits.execute(kysely)
  return Number(rows[0]?.count)
}
