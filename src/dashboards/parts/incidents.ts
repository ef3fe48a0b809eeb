/** Panels of incidents, for any population (`i`). */
import { sql } from 'kysely'
import { ADDRESS, count, minutes, moment, TIME, text } from '../columns.ts'
import type { Panel } from '../dashboard.ts'
import { mean, minutesFrom, named } from '../expressions.ts'
import { REMEDIES } from '../panels.ts'
import type { Population } from '../populations.ts'
import { eventsByInterval, isInRange } from '../statements.ts'
import { leadTime } from './issues.ts'
import { numberOf } from './number.ts'

const remedy = REMEDIES.incidents
/** On-call tools have only one text, which may be in either column. */
const title = named('', sql`i.title`, sql`i.description`)

export const incidentsCreated = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'incidents',
      title: 'Incidents',
      definition: 'Incidents that began in the range, and how many of them are resolved. Each counts once.',
      better: 'lower',
      columns: { value: count('Incidents'), resolved: count('Resolved') },
      remedy,
    },
    (query, rows) => sql`select count(*) as value, count(i.resolution_date) as resolved
      ${rows} and ${isInRange(query, sql`i.created_date`)}`,
  )

export const incidentFlow = (population: Population): Panel => ({
  name: 'incident-flow',
  title: 'Incidents begun and resolved',
  definition: 'Incidents by the date on which they began or were resolved.',
  look: 'bars',
  better: 'lower',
  columns: { time: TIME, created: count('Begun'), resolved: count('Resolved') },
  statement: (query) => {
    const { from, where } = population(query)
    return eventsByInterval(query, {
      created: sql`select i.created_date as at ${from} where ${where}`,
      resolved: sql`select i.resolution_date as at ${from} where ${where} and i.resolution_date is not null`,
    })
  },
  remedy,
})

export const incidentsByComponent = (population: Population): Panel => ({
  name: 'incidents-by-component',
  title: 'Which components fail',
  definition:
    'Incidents that began in the range by component and priority, and the mean time to restore of those resolved.',
  look: 'table',
  columns: {
    component: text('Component'),
    priority: text('Priority'),
    incidents: count('Incidents'),
    minutes: minutes('Mean time to restore'),
    open: count('Not resolved'),
  },
  statement: (query) => {
    const { from, where } = population(query)
    const rows = sql`select ${named('no component', sql`i.component`)} as component, ${named('no priority', sql`i.priority`)} as priority,
      ${leadTime} as minutes, i.resolution_date ${from} where ${where} and ${isInRange(query, sql`i.created_date`)}`
    return sql`select component, priority, count(*) as incidents, ${mean(query, sql`minutes`)} as minutes,
      count(*) - count(resolution_date) as open
      from (${rows}) each_one group by component, priority order by incidents desc, component, priority limit 500`
  },
  remedy,
})

export const openIncidents = (population: Population): Panel => ({
  name: 'open-incidents',
  title: 'Open incidents, the oldest first',
  definition: 'Incidents that were not resolved at the end of the range, with their age at that time.',
  look: 'table',
  width: 24,
  columns: {
    created: moment('Began'),
    title: text('Incident', 'url'),
    priority: text('Priority'),
    component: text('Component'),
    assignee: text('Assignee'),
    age: minutes('Age'),
    url: ADDRESS,
  },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select i.created_date as created, ${title} as title, ${named('no priority', sql`i.priority`)} as priority,
      ${named('no component', sql`i.component`)} as component, ${named('nobody', sql`i.assignee_name`, sql`i.assignee_id`)} as assignee,
      ${minutesFrom(query, sql`i.created_date`, query.to)} as age, i.url
      ${from} where ${where} and i.created_date <= ${query.to} and (i.resolution_date is null or i.resolution_date > ${query.to})
      order by i.created_date, i.id limit 500`
  },
  remedy: 'No incident was open at the end of this range.',
})

export const latestIncidents = (population: Population): Panel => ({
  name: 'latest-incidents',
  title: 'Incidents, the latest first',
  definition: 'Incidents that began in the range, with the time from creation to resolution.',
  look: 'table',
  width: 24,
  columns: {
    created: moment('Began'),
    resolved: moment('Resolved'),
    title: text('Incident', 'url'),
    status: text('Status'),
    priority: text('Priority'),
    minutes: minutes('Time to restore'),
    url: ADDRESS,
  },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select i.created_date as created, i.resolution_date as resolved, ${title} as title,
      ${named('no status', sql`i.original_status`, sql`i.status`)} as status, ${named('no priority', sql`i.priority`)} as priority,
      ${leadTime} as minutes, i.url ${from} where ${where} and ${isInRange(query, sql`i.created_date`)}
      order by i.created_date desc, i.id limit 500`
  },
  remedy,
})
