/** Panels of open issues by the reason why they wait, and lists of issues (`i`). */
import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { ADDRESS, count, minutes, moment, text } from '../columns.ts'
import type { Panel, PanelQuery } from '../dashboard.ts'
import { named } from '../expressions.ts'
import { REMEDIES } from '../panels.ts'
import type { Population } from '../populations.ts'
import { isInRange } from '../statements.ts'
import { ageOf, isOpenAt, leadTime } from './issues.ts'

const remedy = REMEDIES.issues
const priority = named('no priority', sql`i.priority`)
const assignee = named('nobody', sql`i.assignee_name`, sql`i.assignee_id`)
const status = named('no status', sql`i.original_status`, sql`i.status`)
const key = named('', sql`i.issue_key`)

export const openByPriority = (population: Population): Panel => ({
  name: 'open-by-priority',
  title: 'Age of open issues by priority',
  definition: 'Issues that were open at the end of the range: how many of each priority, and their mean age then.',
  look: 'ranking',
  columns: { priority: text('Priority'), value: minutes('Mean age'), open: count('Open') },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select priority, avg(age) as value, count(*) as open from (select ${priority} as priority, ${ageOf(query)} as age
      ${from} where ${where} and ${isOpenAt(query.to)}) each_one group by priority order by value desc, priority limit 50`
  },
  remedy: 'No issue was open at the end of this range: choose another range.',
})

export const openByStatus = (population: Population): Panel => ({
  name: 'open-by-status',
  title: 'Where open issues wait',
  definition:
    'Issues that were open at the end of the range by their present status in the words of the tracker, and how many have nobody assigned.',
  look: 'ranking',
  columns: { status: text('Status'), value: count('Open'), unassigned: count('Of these with nobody assigned') },
  statement: (query) => {
    const { from, where } = population(query)
    const isUnassigned = sql`coalesce(i.assignee_id, '') = '' and coalesce(i.assignee_name, '') = ''`
    return sql`select status, count(*) as value, sum(is_unassigned) as unassigned from (select ${status} as status,
      case when ${isUnassigned} then 1 else 0 end as is_unassigned ${from} where ${where} and ${isOpenAt(query.to)}) each_one
      group by status order by value desc, status limit 50`
  },
  remedy: 'No issue was open at the end of this range: choose another range.',
})

const tableOf = (
  population: Population,
  own: Pick<Panel, 'name' | 'title' | 'definition' | 'remedy'>,
  {
    date,
    duration,
    condition,
    order,
  }: Readonly<Record<'date' | 'duration' | 'condition' | 'order', (query: PanelQuery) => Sql>>,
  titles: { readonly date: string; readonly duration: string },
): Panel => ({
  ...own,
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    issue_key: text('Key'),
    title: text('Title', 'url'),
    type: text('Type'),
    priority: text('Priority'),
    status: text('Status'),
    assignee: text('Assignee'),
    at: moment(titles.date),
    duration: minutes(titles.duration),
    url: ADDRESS,
  },
  statement: (query) => {
    const { from, where } = population(query)
    const type = named('no type', sql`i.original_type`, sql`i.type`)
    return sql`select ${key} as issue_key, i.title, ${type} as type, ${priority} as priority, ${status} as status,
      ${assignee} as assignee, ${date(query)} as at, ${duration(query)} as duration, i.url
      ${from} where ${where} and ${condition(query)} order by ${order(query)}, i.id limit 500`
  },
})

export const oldestOpenIssues = (population: Population): Panel =>
  tableOf(
    population,
    {
      name: 'oldest-open-issues',
      title: 'The queue: open issues, the oldest first',
      definition: 'Issues that were open at the end of the range, with their age then.',
      remedy: 'No issue was open at the end of this range: choose another range.',
    },
    {
      date: () => sql`i.created_date`,
      duration: ageOf,
      condition: (query) => isOpenAt(query.to),
      order: () => sql`i.created_date`,
    },
    { date: 'Created', duration: 'Age' },
  )

export const latestResolvedIssues = (population: Population): Panel =>
  tableOf(
    population,
    {
      name: 'latest-resolved-issues',
      title: 'Resolved, the latest first',
      definition: 'Issues resolved in the range, with the time from their creation.',
      remedy,
    },
    {
      date: () => sql`i.resolution_date`,
      duration: () => leadTime,
      condition: (query) => isInRange(query, sql`i.resolution_date`),
      order: () => sql`i.resolution_date desc`,
    },
    { date: 'Resolved', duration: 'Lead time' },
  )
