/** The compiler knows tables and columns: it must refuse each marked line, or this file does not compile. */
import { expect, it } from 'vitest'
import { deleteRows, findRow, insertRow, type Queries, selectRows, updateRows } from '../src/control-plane/store.ts'
import type { Database } from '../src/database/database.ts'
import { knowing } from '../src/database/kysely.ts'
import { schemaVersions } from '../src/database/migrate.ts'
import { leftJoin, readAll, readRows } from '../src/database/read.ts'
import { issues } from '../src/domain/ticket.ts'
import { connectedAccounts } from '../src/metrics/calculate/user-accounts.ts'
import { gaps } from '../src/plugin-kit/raw/gaps.ts'
import { boards } from '../src/plugins/jira/kit.ts'
import { usedSignIns } from '../src/system/access.ts'
import { pipelines, subtasks, tasks } from '../src/system/pipelines.ts'
import { blueprints, projects } from '../src/system/projects.ts'
import { restores } from '../src/system/state.ts'
import { trafficJournal, trafficSwitches } from '../src/traffic/engine/tables.ts'

/** Never called. A line per room that queries. */
function refused(queries: Queries, database: Database) {
  const journal = queries
    .selectFrom(trafficJournal.name)
    .innerJoin(trafficSwitches.name, `${trafficSwitches.name}.id`, `${trafficJournal.name}.switch_id`)
  const runs = queries
    .selectFrom(`${pipelines.name} as run`)
    .innerJoin(`${blueprints.name} as blueprint`, 'blueprint.id', 'run.blueprint_id')
  return [
    // @ts-expect-error: no table has this name
    queries.selectFrom('projekts'),
    // @ts-expect-error: control-plane
    queries.selectFrom(projects.name).select('nam'),
    // @ts-expect-error: domain tables, as metrics read them
    queries.selectFrom(issues.name).where('titel', '=', ''),
    // @ts-expect-error: the plugin kit
    queries.selectFrom(gaps.name).select('paramz'),
    // @ts-expect-error: runner, in a change that is spelled out
    queries.updateTable(tasks.name).set({ mesage: '' }),
    // @ts-expect-error: traffic
    queries.deleteFrom(trafficSwitches.name).where('stat', '=', ''),
    // @ts-expect-error: alerts, in tables that are joined
    journal.select(`${trafficSwitches.name}.nam`),
    // @ts-expect-error: config-as-code, in tables that have other names in the query
    runs.where('blueprint.projectName', '=', ''),
    // @ts-expect-error: api
    queries.deleteFrom(usedSignIns.name).where('expires', '<', new Date()),
    // @ts-expect-error: backup
    queries.selectFrom(restores.name).select('begin'),
    // @ts-expect-error: measure, in an aggregate
    queries.selectFrom(subtasks.name).select(({ fn }) => fn.max('finnished_at').as('last')),
    // @ts-expect-error: a table that is named by hand
    queries.selectFrom('cicd_deployments').orderBy('finished'),
    // @ts-expect-error: a number is compared with a text
    queries.selectFrom(tasks.name).where('pipeline_id', '=', 'shop'),
    // @ts-expect-error: a row lacks its key
    queries.insertInto(projects.name).values({ description: '' }),
    // @ts-expect-error: a plugin's own table
    knowing(queries, boards).updateTable(boards.name).set({ jqk: '' }),
    // @ts-expect-error: the version of the schema
    knowing(queries, schemaVersions).selectFrom(schemaVersions.name).select('hsh'),

    // @ts-expect-error: metrics, in a condition
    selectRows(queries, connectedAccounts, (query) => query.where('acount_id', '=', '')),
    // @ts-expect-error: in what is looked for
    findRow(queries, tasks, { pipelineId: 1 }),
    // @ts-expect-error: in what is written
    insertRow(queries, projects, { name: 'shop', decription: '' }),
    // @ts-expect-error: in what is changed
    updateRows(queries, tasks, { id: 1 }, { state: 'TASK_FAILED' }),
    // @ts-expect-error: in what is deleted
    deleteRows(queries, gaps, { plugins: 'jira' }),
    // @ts-expect-error: in what is read as a stream
    readRows(database, { table: boards, where: { board: 1 } }),
    // @ts-expect-error: in what is joined
    readAll(database, { table: boards, joins: { issue: leftJoin(issues, { bord_id: 'board_id' }) } }),
  ]
}

it('is refused by the compiler when it names what no table has', () => expect(refused).toBeTypeOf('function'))
