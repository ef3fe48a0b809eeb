/** Panels of incidents that on-call services report (`i`; panels by service also use `b` and `service`). */
import { sql } from 'kysely'
import { count, minutes, share, text } from '../columns.ts'
import type { Panel, Section } from '../dashboard.ts'
import { mean, named, shareIf } from '../expressions.ts'
import { REMEDIES } from '../panels.ts'
import type { Population } from '../populations.ts'
import { isInRange } from '../statements.ts'
import { incidentFlow, incidentsCreated, latestIncidents, openIncidents } from './incidents.ts'
import { isOpenAt, leadTime, leadTimeOfMost, leadTimeSeries, meanLeadTime } from './issues.ts'

const remedy = REMEDIES.incidents

/** Uses the panel that issues have for their lead time. */
const restoreTime = (incidents: Population): Panel => ({
  ...meanLeadTime(incidents),
  name: 'mean-time-to-restore',
  title: 'Mean time to restore',
  definition:
    'Mean time from the beginning to the end of the incidents resolved in the range. Those resolved before they began are left out: the clocks disagree.',
  columns: { value: minutes('Time to restore'), counted: count('Resolved') },
  remedy,
})

const restoreTimeOfMost = (incidents: Population): Panel => ({
  ...leadTimeOfMost(incidents),
  name: 'time-to-restore-of-most',
  title: 'Time to restore of four in five',
  definition: 'Four in five of the incidents resolved in the range took at most this long (the 80th percentile).',
  remedy,
})

const restoreTimeSeries = (incidents: Population): Panel => ({
  ...leadTimeSeries(incidents),
  name: 'time-to-restore-series',
  title: 'Time to restore over time',
  definition:
    'Median time to restore, by date of resolution. Intervals in which no incident was resolved have no point.',
  columns: { ...leadTimeSeries(incidents).columns, value: minutes('Median time to restore') },
  remedy,
})

const withSomebody = (incidents: Population): Panel => ({
  name: 'incidents-with-responders',
  title: 'Incidents with a responder',
  definition: 'Share of the incidents that began in the range that a person or team was assigned to.',
  look: 'number',
  width: 6,
  height: 5,
  better: 'higher',
  columns: { value: share('With a responder'), counted: count('Incidents') },
  statement: (query) => {
    const { from, where } = incidents(query)
    const isAssigned = sql`exists (select 1 from issue_assignees a where a.issue_id = i.id)`
    return sql`select ${shareIf(query, isAssigned)} as value, count(*) as counted
      ${from} where ${where} and ${isInRange(query, sql`i.created_date`)}`
  },
  remedy,
})

const incidentsByService = (byService: Population): Panel => ({
  name: 'incidents-by-service',
  title: 'Which services fail',
  definition:
    'Incidents that began in the range by service, the mean time to restore of those resolved, and how many were open at its end. An incident of two services counts for each.',
  look: 'table',
  columns: {
    service: text('Service'),
    incidents: count('Incidents'),
    minutes: minutes('Mean time to restore'),
    open: count('Not resolved'),
  },
  statement: (query) => {
    const { from, where } = byService(query)
    const rows = sql`select ${named('no name', sql`service.name`, sql`b.board_id`)} as service, ${leadTime} as minutes,
      case when ${isOpenAt(query.to)} then 1 else 0 end as is_open
      ${from} where ${where} and ${isInRange(query, sql`i.created_date`)}`
    return sql`select service, count(*) as incidents, ${mean(query, sql`minutes`)} as minutes, sum(is_open) as open
      from (${rows}) each_one group by service order by incidents desc, service limit 500`
  },
  remedy,
})

const incidentsByPriority = (incidents: Population): Panel => ({
  name: 'incidents-by-priority',
  title: 'How urgent they are',
  definition: 'Incidents that began in the range by their priority.',
  look: 'ranking',
  columns: { priority: text('Priority'), value: count('Incidents') },
  statement: (query) => {
    const { from, where } = incidents(query)
    return sql`select priority, count(*) as value from (select ${named('no priority', sql`i.priority`)} as priority
      ${from} where ${where} and ${isInRange(query, sql`i.created_date`)}) each_one group by priority order by value desc, priority limit 50`
  },
  remedy,
})

/** Says how the load is spread, without saying who carries it. */
const incidentsByHelpers = (incidents: Population): Panel => ({
  name: 'incidents-by-helpers',
  title: 'How many are called',
  definition: 'Incidents that began in the range, by the number of people and teams that each was assigned to.',
  look: 'ranking',
  columns: { helpers: text('Called'), value: count('Incidents') },
  statement: (query) => {
    const { from, where } = incidents(query)
    const called = sql`(select count(distinct a.assignee_id) from issue_assignees a where a.issue_id = i.id)`
    return sql`select helpers, count(*) as value from (select case when ${called} = 0 then 'nobody'
        when ${called} = 1 then 'one' when ${called} = 2 then 'two' else 'three or more' end as helpers
      ${from} where ${where} and ${isInRange(query, sql`i.created_date`)}) each_one
      group by helpers order by value desc, helpers`
  },
  remedy,
})

/** The sections of dashboards for on-call tools. */
export const onCallSections = (incidents: Population, byService: Population): Section[] => [
  {
    panels: [
      incidentsCreated(incidents),
      restoreTime(incidents),
      restoreTimeOfMost(incidents),
      withSomebody(incidents),
    ],
  },
  { title: 'Over time', panels: [incidentFlow(incidents), restoreTimeSeries(incidents)] },
  {
    title: 'Which ones',
    panels: [
      { ...incidentsByService(byService), width: 8 },
      { ...incidentsByPriority(incidents), width: 8 },
      { ...incidentsByHelpers(incidents), width: 8 },
      openIncidents(incidents),
      latestIncidents(incidents),
    ],
  },
]
