/** The compiler knows tables and columns: it must refuse each marked line, or this file does not compile. */
import { expect, it } from 'vitest'
import { deleteRows, findRow, insertRow, type Queries, selectRows, updateRows } from '../src/control-plane/store.ts'
import { issues } from '../src/domain/ticket.ts'
import { connectedAccounts } from '../src/metrics/calculate/user-accounts.ts'
import { gaps } from '../src/plugin-kit/raw/gaps.ts'
import { tasks } from '../src/system/pipelines.ts'
import { projects } from '../src/system/projects.ts'
import { trafficJournal, trafficSwitches } from '../src/system/traffic.ts'

/** Never called. */
function refused(queries: Queries) {
  const journal = queries
    .selectFrom(trafficJournal.name)
    .innerJoin(trafficSwitches.name, `${trafficSwitches.name}.id`, `${trafficJournal.name}.switch_id`)
  return [
    // @ts-expect-error: of a table of the framework
    queries.selectFrom(projects.name).select('nam'),
    // @ts-expect-error: of a domain table
    queries.selectFrom(issues.name).where('titel', '=', ''),
    // @ts-expect-error: of a table of the plugin kit
    queries.selectFrom(gaps.name).select('paramz'),
    // @ts-expect-error: in a change that is spelled out
    queries.updateTable(tasks.name).set({ mesage: '' }),
    // @ts-expect-error: of a table of traffic switches
    queries.deleteFrom(trafficSwitches.name).where('stat', '=', ''),
    // @ts-expect-error: of two tables that are joined
    journal.select(`${trafficSwitches.name}.nam`),
    // @ts-expect-error: of a table that is named by hand
    queries.selectFrom('cicd_deployments').orderBy('finished'),
    // @ts-expect-error: a number is compared with a text
    queries.selectFrom(tasks.name).where('pipeline_id', '=', 'shop'),
    // @ts-expect-error: a row lacks its key
    queries.insertInto(projects.name).values({ description: '' }),

    // @ts-expect-error: of a plugin's own table, in a condition
    selectRows(queries, connectedAccounts, (query) => query.where('acount_id', '=', '')),
    // @ts-expect-error: in what is looked for
    findRow(queries, tasks, { pipelineId: 1 }),
    // @ts-expect-error: in what is written
    insertRow(queries, projects, { name: 'shop', decription: '' }),
    // @ts-expect-error: in what is changed
    updateRows(queries, tasks, { id: 1 }, { state: 'TASK_FAILED' }),
    // @ts-expect-error: in what is deleted
    deleteRows(queries, gaps, { plugins: 'jira' }),
  ]
}

it('is refused by the compiler when it names what no table has', () => expect(refused).toBeTypeOf('function'))
