import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { serviceChangeFailureRate } from '../../metrics/definitions/service-change-failure-rate.ts'
import { serviceIncidentCount } from '../../metrics/definitions/service-incident-count.ts'
import { serviceRecoveryTime } from '../../metrics/definitions/service-recovery-time.ts'
import { everyComponent, hasComponent } from '../../metrics/service/service-components.ts'
import { CATEGORY_FIELD, CATEGORY_TABLES, categoryOf, NO_CATEGORY } from '../../metrics/service/service-incidents.ts'
import { serviceWords } from '../../metrics/service/service-words.ts'
import { ADDRESS, count, minutes, moment, text } from '../columns.ts'
import { ALL, type Dashboard, type Panel, type PanelQuery, type Variable } from '../dashboard.ts'
import { mean, named } from '../expressions.ts'
import { numberPanel, seriesPanel } from '../panels.ts'
import { deploymentsCount } from '../parts/deployments.ts'
import { projectDeployments } from '../populations.ts'
import { countedItems, isChosen, metricQueryOf, type Narrowing } from '../statements.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

const remedy =
  'No incident of this range has a chosen category and component. If incidents have no category yet, add the field x_issue_category to the table incidents and let the blueprint fill it.'

const words = (query: PanelQuery): Sql => serviceWords(metricQueryOf(query))
const wordsOf = (name: string, title: string, rows: (query: PanelQuery) => Sql): Variable => ({
  name,
  title,
  isList: true,
  statement: (query) => sql`select distinct word as value, word as label
    from (${rows(query)}) each_word where word <> '' order by value`,
  remedy,
})
const CATEGORY = wordsOf(
  'issue_category',
  'Issue category',
  (query) => sql`select category as word from (${words(query)}) each_incident`,
)
const COMPONENT = wordsOf(
  'component',
  'Component',
  (query) => sql`select component as word from (${everyComponent(query.dialect, words(query))}) each_component`,
)

/** The deployments are those of the whole project, and the incidents those that the variables choose. */
const narrowing = (query: PanelQuery): Narrowing => ({
  service: { categories: null, component: null },
  where: sql`(kind = 'deployment' or exists (select 1 from incidents chosen ${NO_CATEGORY} where chosen.id = every_item.id
    and ${isChosen(query, CATEGORY.name, categoryOf('chosen.id'))}
    and (${sql.lit(ALL)} in (${query.variable(COMPONENT.name)})
      or ${hasComponent(query.dialect, 'chosen.component', query.variable(COMPONENT.name))})))`,
})

/** The incidents behind the recovery time. `unresolved` is 1 for those that count until their last update. */
const recoveries = (query: PanelQuery): Sql =>
  sql`select item.at, item.value, case when i.resolution_date is null then 1 else 0 end as unresolved
    from (${countedItems(query, serviceRecoveryTime, narrowing(query))}) item inner join incidents i on i.id = item.id`

const recovery = numberPanel(serviceRecoveryTime, { narrowing })
const recoveryTime: Panel = {
  ...recovery,
  columns: { ...recovery.columns, unresolved: count('Not resolved, until their last update') },
  statement: (query) => sql`select ${mean(query, sql`value`)} as value, count(*) as counted,
    nullif(sum(unresolved), 0) as unresolved from (${recoveries(query)}) item`,
}

const byMonth: Panel = {
  name: 'recovery-by-month',
  title: 'Recovery by month',
  definition:
    'Mean minutes that the chosen incidents took, by the month of their creation (yy/mm): lead_time_minutes if the tool reports it, otherwise the whole minutes from created_date to updated_date, which is also how one that is not resolved counts. Months without an incident are left out.',
  look: 'ranking',
  better: 'lower',
  columns: {
    month: text('Month'),
    value: minutes('Recovery'),
    incidents: count('Incidents'),
    unresolved: count('Not resolved'),
  },
  statement: (
    query,
  ) => sql`select month, ${mean(query, sql`value`)} as value, count(*) as incidents, sum(unresolved) as unresolved
    from (select ${sql.raw(query.dialect.monthLabel('item.at'))} as month, item.value, item.unresolved
      from (${recoveries(query)}) item) each_one group by month order by month limit 500`,
  remedy,
}

const incidents: Panel = {
  name: 'incidents',
  title: 'The incidents, the latest first',
  definition:
    'The chosen incidents created in the range, with their category, component and the minutes they took: of one that is not resolved, the minutes until its last update.',
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    at: moment('Created'),
    issue_key: text('Key'),
    title: text('Incident', 'url'),
    category: text('Category'),
    component: text('Component'),
    value: minutes('Recovery'),
    state: text('State'),
    url: ADDRESS,
  },
  statement: (query) => sql`select item.at, ${named('', sql`i.incident_key`)} as issue_key, i.title,
    ${named('no category', categoryOf('i.id'))} as category, ${named('no component', sql`i.component`)} as component, item.value,
    case when i.resolution_date is null then 'not resolved, until its last update' else 'resolved' end as state, i.url
    from (${countedItems(query, serviceRecoveryTime, narrowing(query))}) item inner join incidents i on i.id = item.id ${NO_CATEGORY}
    order by item.at desc, i.id limit 500`,
  remedy,
}

export const serviceReport: Dashboard = {
  name: 'service-report',
  title: 'Service report',
  question:
    'How many incidents of the chosen categories does a service have, relative to deployments, and how long do they take?',
  group: 'Delivery',
  ownField: { name: CATEGORY_FIELD, title: 'Issue category', tables: CATEGORY_TABLES },
  variables: [PROJECT, CATEGORY, COMPONENT, INTERVAL],
  sections: [
    {
      panels: [
        numberPanel(serviceIncidentCount, { narrowing }),
        numberPanel(serviceChangeFailureRate, { narrowing }),
        recoveryTime,
        deploymentsCount(projectDeployments),
      ],
    },
    {
      panels: [
        seriesPanel(serviceIncidentCount, { narrowing }),
        seriesPanel(serviceChangeFailureRate, { narrowing }),
        seriesPanel(serviceRecoveryTime, { narrowing }),
        byMonth,
      ],
    },
    { panels: [incidents] },
  ],
}
