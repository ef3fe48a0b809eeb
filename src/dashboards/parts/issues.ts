/** Panels of issues, for any population (`i`). */
import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { count, minutes, share, TIME, text } from '../columns.ts'
import type { Panel, PanelQuery } from '../dashboard.ts'
import { type Classes, classOf, countIf, mean, minutesFrom, shareIf } from '../expressions.ts'
import { REMEDIES } from '../panels.ts'
import type { Population } from '../populations.ts'
import { eventsByInterval, isInRange, measuresByInterval, mediansByInterval } from '../statements.ts'
import { numberOf } from './number.ts'

const remedy = REMEDIES.issues
/** If an issue is done but has no date of resolution, nothing tells when it was open. */
const isDated = sql`(i.resolution_date is not null or coalesce(i.status, '') <> 'DONE')`
/** The lead time, or null if the dates of the issue contradict it. */
export const leadTime = sql`(case when i.resolution_date >= i.created_date then i.lead_time_minutes end)`

export const isOpenAt = (moment: Sql): Sql =>
  sql`i.created_date <= ${moment} and ${isDated} and (i.resolution_date is null or i.resolution_date > ${moment})`
export const ageOf = (query: PanelQuery) => minutesFrom(query, sql`i.created_date`, query.to)

const AGES: Classes = {
  below: [
    [60, 'under an hour'],
    [1440, 'under a day'],
    [10_080, 'under a week'],
    [43_200, 'under a month'],
    [129_600, 'under three months'],
  ],
  rest: 'three months and more',
}

export const issuesCreated = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'issues-created',
      title: 'Issues created',
      definition: 'Issues created in the range, in any state. Each counts once.',
      better: 'lower',
      columns: { value: count('Created') },
      remedy,
    },
    (query, rows) => sql`select count(*) as value ${rows} and ${isInRange(query, sql`i.created_date`)}`,
  )

export const issuesResolved = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'issues-resolved',
      title: 'Issues resolved',
      definition: 'Issues resolved in the range. Each counts once.',
      better: 'higher',
      columns: { value: count('Resolved') },
      remedy,
    },
    (query, rows) => sql`select count(*) as value ${rows} and ${isInRange(query, sql`i.resolution_date`)}`,
  )

export const openIssues = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'open-issues',
      title: 'Open issues',
      definition: 'Issues that were not resolved at the end of the range, whenever they were created.',
      better: 'lower',
      columns: { value: count('Open'), age: minutes('Mean age') },
      remedy,
    },
    (query, rows) => sql`select count(*) as value, avg(${ageOf(query)}) as age ${rows} and ${isOpenAt(query.to)}`,
  )

export const deliveryRate = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'delivery-rate',
      title: 'Delivery rate',
      definition: 'Share of the issues created in the range that are resolved by its end.',
      better: 'higher',
      columns: { value: share('Delivered'), counted: count('Created') },
      remedy,
    },
    (query, rows) => sql`select ${shareIf(query, sql`i.resolution_date <= ${query.to}`)} as value, count(*) as counted
      ${rows} and ${isInRange(query, sql`i.created_date`)}`,
  )

/** Ranks the resolved issues by lead time: `place` of `size`. */
const ranked = (query: PanelQuery, rows: Sql): Sql => sql`select ${leadTime} as value, i.id,
  row_number() over (order by ${leadTime}, i.id) as place, count(*) over () as size
  ${rows} and ${leadTime} is not null and ${isInRange(query, sql`i.resolution_date`)}`

export const leadTimeOfMost = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'lead-time-of-most',
      title: 'Lead time of four in five',
      definition:
        'Four in five of the issues resolved in the range took at most this long from creation to resolution (the 80th percentile).',
      better: 'lower',
      columns: { value: minutes('80th percentile'), counted: count('Resolved') },
      remedy,
    },
    (
      query,
      rows,
    ) => sql`select max(case when place * 10 >= size * 8 and (place - 1) * 10 < size * 8 then value end) as value,
      count(*) as counted from (${ranked(query, rows)}) each_one`,
  )

export const meanLeadTime = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'mean-lead-time',
      title: 'Mean lead time',
      definition:
        'Mean time from creation to resolution of the issues resolved in the range. Issues resolved before they were created are left out: the clocks disagree.',
      better: 'lower',
      columns: { value: minutes('Lead time'), counted: count('Resolved') },
      remedy,
    },
    (query, rows) => sql`select ${mean(query, leadTime)} as value, count(${leadTime}) as counted
      ${rows} and ${isInRange(query, sql`i.resolution_date`)}`,
  )

export const issueFlow = (population: Population): Panel => ({
  name: 'issue-flow',
  title: 'Issues created and resolved',
  definition: 'Issues by the date on which they were created or resolved; each once, also on several boards.',
  look: 'bars',
  columns: { time: TIME, created: count('Created'), resolved: count('Resolved') },
  statement: (query) => {
    const { from, where } = population(query)
    return eventsByInterval(query, {
      created: sql`select i.created_date as at ${from} where ${where}`,
      resolved: sql`select i.resolution_date as at ${from} where ${where} and i.resolution_date is not null`,
    })
  },
  remedy,
})

export const openIssuesSeries = (population: Population): Panel => ({
  name: 'open-issues-series',
  title: 'Open issues over time',
  definition: 'Issues that were open at the end of each interval.',
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: count('Open') },
  statement: (query) => {
    const { from, where } = population(query)
    const dated = sql`${from} where ${where} and ${isDated}`
    const flow = eventsByInterval(query, {
      created: sql`select i.created_date as at ${dated}`,
      resolved: sql`select i.resolution_date as at ${dated} and i.resolution_date is not null`,
    })
    const before = sql`select count(*) as open ${dated} and i.created_date < ${query.from}
      and (i.resolution_date is null or i.resolution_date >= ${query.from})`
    return sql`select flow.time, before_range.open + sum(flow.created - flow.resolved) over (order by flow.time) as value
      from (${flow}) flow cross join (${before}) before_range order by flow.time`
  },
  remedy,
})

export const leadTimeSeries = (population: Population): Panel => ({
  name: 'lead-time-series',
  title: 'Lead time over time',
  definition:
    'Median time from creation to resolution, by date of resolution. Intervals in which nothing was resolved have no point.',
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: minutes('Median lead time'), counted: count('Resolved') },
  statement: (query) => {
    const { from, where } = population(query)
    return mediansByInterval(
      query,
      sql`select i.id, i.resolution_date as at, ${leadTime} as value ${from} where ${where}`,
    )
  },
  remedy,
})

export const deliveryRateSeries = (population: Population): Panel => ({
  name: 'delivery-rate-series',
  title: 'Delivery rate over time',
  definition: 'By date of creation: the share of issues that are resolved by the end of the range.',
  look: 'lines',
  better: 'higher',
  columns: { time: TIME, value: share('Delivered'), created: count('Created') },
  statement: (query) => {
    const { from, where } = population(query)
    const rows = sql`select i.created_date as at, case when i.resolution_date <= ${query.to} then 1 else 0 end as is_done
      ${from} where ${where}`
    return measuresByInterval(query, rows, {
      values: { value: mean(query, sql`is_done`) },
      counts: { created: sql`count(*)` },
    })
  },
  remedy,
})

export const leadTimeClasses = (population: Population): Panel => ({
  name: 'lead-time-classes',
  title: 'How long issues took',
  definition: 'Issues resolved in the range by the time from creation to resolution.',
  look: 'ranking',
  columns: { label: text('Lead time'), value: count('Issues') },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select label, count(*) as value from (select ${classOf(leadTime, AGES)} ${from}
      where ${where} and ${leadTime} is not null and ${isInRange(query, sql`i.resolution_date`)}) each_one
      group by place, label order by place`
  },
  remedy,
})

export const storyPoints = (population: Population): Panel => ({
  name: 'story-points',
  title: 'Story points resolved',
  definition: 'The sum of story points of the issues resolved in each interval. Issues without points add nothing.',
  look: 'bars',
  better: 'higher',
  columns: { time: TIME, value: count('Story points'), issues: count('Issues with points') },
  statement: (query) => {
    const { from, where } = population(query)
    const rows = sql`select i.resolution_date as at, i.story_point as points ${from} where ${where} and i.resolution_date is not null`
    const measures = { value: sql`sum(coalesce(points, 0))`, issues: countIf(sql`points is not null`) }
    return measuresByInterval(query, rows, { counts: measures })
  },
  remedy: 'Say in the scope config which field holds story points, and collect again.',
})
