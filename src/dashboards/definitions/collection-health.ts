import { sql } from 'kysely'
import { count, moment, seconds, share, TIME, text } from '../columns.ts'
import type { Dashboard, Panel } from '../dashboard.ts'
import { countIf, mean, named, shareIf } from '../expressions.ts'
import { eventsByInterval, isInRange, measuresByInterval } from '../statements.ts'
import { INTERVAL } from '../variables.ts'

const NEVER = 'Nothing was collected yet: run a blueprint.'
const NO_RUNS = 'No run was finished in this range: choose a longer one, or run a blueprint.'
const number = { look: 'number', width: 6, height: 5 } as const

const complete: Panel = {
  ...number,
  name: 'complete-lists',
  title: 'Lists that are complete',
  definition:
    'Share of the lists that the last collection stored completely. A list is what one subtask asks for one scope, for example the issues of a repository.',
  better: 'higher',
  columns: { value: share('Complete'), counted: count('Lists') },
  statement: (query) =>
    sql`select ${shareIf(query, sql`status = 'complete'`)} as value, count(*) as counted from _weir_receipts`,
  remedy: NEVER,
}

const gaps: Panel = {
  ...number,
  name: 'gaps',
  title: 'Gaps',
  definition: 'Lists, or parts of lists, that Weir did not get from the sources, and how many records are missing.',
  better: 'lower',
  columns: { value: count('Gaps'), missing: count('Records missing') },
  statement: () => sql`select count(*) as value, coalesce(sum(missing), 0) as missing from _weir_gaps`,
  remedy: NEVER,
}

const quarantine: Panel = {
  ...number,
  name: 'quarantine',
  title: 'Records in quarantine',
  definition: 'Records that were collected but could not be used. Weir keeps them, and they can be tried again.',
  better: 'lower',
  columns: { value: count('Records') },
  statement: () => sql`select count(*) as value from _weir_quarantine`,
  remedy: NEVER,
}

const success: Panel = {
  ...number,
  name: 'run-success',
  title: 'Runs that succeeded',
  definition: 'Share of the runs finished in the range in which every task succeeded. Unfinished runs are left out.',
  better: 'higher',
  columns: { value: share('Succeeded'), counted: count('Runs') },
  statement: (query) => sql`select ${shareIf(query, sql`status = 'TASK_COMPLETED'`)} as value, count(*) as counted
    from _devlake_pipelines where ${isInRange(query, sql`finished_at`)}`,
  remedy: NO_RUNS,
}

const runs: Panel = {
  name: 'runs',
  title: 'Runs by result',
  definition: 'Runs by the date on which they were finished. Partial: some tasks failed, and the rest was collected.',
  look: 'bars',
  columns: {
    time: TIME,
    completed: count('Completed'),
    partial: count('Partial'),
    failed: count('Failed'),
    cancelled: count('Cancelled'),
  },
  statement: (query) => {
    const ended = (status: string) =>
      sql`select finished_at as at from _devlake_pipelines where finished_at is not null and status = ${sql.lit(status)}`
    return eventsByInterval(query, {
      completed: ended('TASK_COMPLETED'),
      partial: ended('TASK_PARTIAL'),
      failed: ended('TASK_FAILED'),
      cancelled: ended('TASK_CANCELLED'),
    })
  },
  remedy: NO_RUNS,
}

const runTimes: Panel = {
  name: 'run-times',
  title: 'How long runs take',
  definition: 'Mean and longest time of the runs finished in each interval.',
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: seconds('Mean'), longest: seconds('Longest') },
  statement: (query) => {
    const rows = sql`select finished_at as at, spent_seconds as spent from _devlake_pipelines where finished_at is not null`
    return measuresByInterval(query, rows, { values: { value: mean(query, sql`spent`), longest: sql`max(spent)` } })
  },
  remedy: NO_RUNS,
}

const tasks: Panel = {
  name: 'tasks',
  title: 'What runs spend their time on',
  definition: 'Tasks finished in the range, by plugin: their total and mean time, and how many failed.',
  look: 'ranking',
  columns: {
    plugin: text('Plugin'),
    value: seconds('In all'),
    average: seconds('On average'),
    tasks: count('Tasks'),
    failed: count('Failed'),
  },
  statement: (query) => sql`select plugin, sum(spent_seconds) as value, ${mean(query, sql`spent_seconds`)} as average,
    count(*) as tasks, ${countIf(sql`status = 'TASK_FAILED'`)} as failed
    from _devlake_tasks where ${isInRange(query, sql`finished_at`)} group by plugin order by value desc, plugin limit 50`,
  remedy: NO_RUNS,
}

const limits: Panel = {
  name: 'limits',
  title: 'Connections and what their sources still allow',
  definition:
    'Every connection that was used: how many requests its source still allows, when it reported this, and when a test or collection last succeeded and last failed.',
  look: 'table',
  columns: {
    plugin: text('Plugin'),
    connection: count('Connection'),
    requests_left: count('Requests left'),
    counted_at: moment('Said at'),
    succeeded_at: moment('Last success'),
    failed_at: moment('Last failure'),
  },
  statement: () => sql`select plugin, connection_id as connection, requests_left, counted_at, succeeded_at, failed_at
    from _weir_connection_states order by plugin, connection_id limit 500`,
  remedy: 'No connection was used yet: test one, or collect with it.',
}

/** Problems of all kinds, or one row saying that there are none. */
const missing: Panel = {
  name: 'missing',
  title: 'What is missing, and why',
  definition:
    'Every gap, every list that could not be collected, and the records in quarantine by reason. The next run asks for gaps again. Records in quarantine can be tried again on the page Data.',
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    kind: text('What'),
    plugin: text('Plugin'),
    subtask: text('Subtask'),
    scope: text('Scope'),
    reason: text('Why'),
    records: count('Records'),
    since: moment('Since'),
  },
  statement: () => {
    const problems = sql`select 0 as place, 'Gap' as kind, plugin, subtask, params as scope, reason, missing as records, created_at as since
        from _weir_gaps
      union all select 1, 'Failed', plugin, subtask, params, message, case when expected > stored then expected - stored end, last_success_at
        from _weir_receipts where status = 'failed'
      union all select 2, 'Quarantine', plugin, subtask, params, reason, count(*), min(created_at)
        from _weir_quarantine group by plugin, subtask, params, reason`
    const none = sql`select 3, 'Nothing', '', '', '', 'Every list is complete, and every record could be used.', 0, latest
      from (select max(updated_at) as latest, count(*) as lists from _weir_receipts) receipts
      cross join (select count(*) as found from (${problems}) every_problem) amount where found = 0 and lists > 0`
    return sql`select kind, plugin, subtask, scope, reason, records, since from (${problems} union all ${none}) every_row
      order by place, plugin, subtask, scope, reason limit 500`
  },
  remedy: NEVER,
}

const receipts: Panel = {
  name: 'receipts',
  title: 'What was stored of what exists',
  definition:
    'Lists by plugin and subtask: how many are complete, how many records the sources report, how many arrived and are stored, the number of requests, and the oldest success.',
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    plugin: text('Plugin'),
    subtask: text('Subtask'),
    lists: count('Lists'),
    complete: count('Complete'),
    expected: count('The source counts'),
    received: count('Came'),
    stored: count('Stored'),
    requests: count('Requests'),
    oldest: moment('Oldest success'),
  },
  statement:
    () => sql`select plugin, ${named('', sql`subtask`)} as subtask, count(*) as lists, ${countIf(sql`status = 'complete'`)} as complete,
    sum(expected) as expected, sum(received) as received, sum(stored) as stored, sum(requests) as requests,
    min(last_success_at) as oldest from _weir_receipts
    group by plugin, subtask order by plugin, subtask limit 500`,
  remedy: NEVER,
}

const latestRuns: Panel = {
  name: 'latest-runs',
  title: 'Runs, the latest first',
  definition: 'Runs that began in the range, with their tasks and, if they failed, the reason.',
  look: 'table',
  width: 24,
  columns: {
    began: moment('Began'),
    name: text('Run'),
    status: text('Status'),
    tasks: count('Tasks'),
    finished: count('Of these ended, failed ones included'),
    spent: seconds('Took'),
    message: text('Message'),
  },
  statement: (query) => sql`select began_at as began, name, status, total_tasks as tasks, finished_tasks as finished,
    spent_seconds as spent, ${named('', sql`message`)} as message
    from _devlake_pipelines where ${isInRange(query, sql`began_at`)} order by began_at desc, id desc limit 500`,
  remedy: NO_RUNS,
}

export const collectionHealth: Dashboard = {
  name: 'collection-health',
  title: 'Collection health',
  question: 'Did collections get everything, what is missing and why, and how long do runs take?',
  group: 'Operation',
  variables: [INTERVAL],
  sections: [
    { panels: [complete, gaps, quarantine, success] },
    { panels: [missing] },
    { title: 'Runs', panels: [runs, runTimes, tasks, limits] },
    { title: 'In detail', panels: [receipts, latestRuns] },
  ],
}
