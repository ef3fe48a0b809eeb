/** The incidents of a service: those that a category and a component choose. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { Sql } from '../calculate/calculation.ts'
import type { NoData } from '../findings/no-data.ts'
import { firstOf, type MetricQuery, outside, type Reason, type ServiceChoice, selectItems } from '../metric.ts'
import { incidentsOf, ofTicket } from '../sources.ts'
import { hasComponent } from './service-components.ts'

/** A column that users add themselves. */
export const CATEGORY_FIELD = 'x_issue_category'
/** The tables in which the field is looked for. The first that has it is used. */
export const CATEGORY_TABLES = ['incidents', 'issues'] as const
type CategoryTable = (typeof CATEGORY_TABLES)[number]

export const NO_CATEGORY_FIELD: NoData = {
  because: `incidents have no field ${CATEGORY_FIELD}, so nothing tells their category`,
  remedy:
    `Add it by POST /plugins/customize/incidents/fields with {"columnName": "${CATEGORY_FIELD}", "displayName": ` +
    '"Issue category", "dataType": "varchar(255)"}, let the blueprint fill it (POST /v1/blueprints/{id}/mappings), and run the project.',
}

/** Returns the choice of the request, or else that of the project. */
export const serviceOf = ({ service, policy }: Pick<MetricQuery, 'service' | 'policy'>): ServiceChoice =>
  service ?? { categories: policy.issueCategories, component: policy.component }

/** Returns the table whose field is read, if one has it. */
export async function categoryTable(database: Database): Promise<CategoryTable | undefined> {
  const tables = await database.describe()
  return CATEGORY_TABLES.find((name) => tables.get(name)?.columns.has(CATEGORY_FIELD))
}

/**
 * Returns the category of the incident with this id; `NO_CATEGORY` has to be joined around it. Statements in Grafana cannot know
 * which table has the field, so the database finds it by name: it looks for a column outside a subquery that does not have it.
 */
export const categoryOf = (id: string): Sql => {
  const own = sql`select ${sql.id(CATEGORY_FIELD)} from incidents own_incident where own_incident.id = ${sql.ref(id)}`
  return sql`coalesce((select (${own}) from (select 1 as one) always
    left join issues own_issue on own_issue.id = ${sql.ref(id)}), '')`
}
export const NO_CATEGORY = sql`cross join (select '' as ${sql.id(CATEGORY_FIELD)}) no_category`

/** Returns the whole minutes that an incident took: as the tool reports, or else until its last update. */
export function recoveryMinutes({ dialect }: MetricQuery): Sql {
  const seconds = sql.raw(dialect.secondsBetween('i.created_date', 'i.updated_date'))
  return sql`coalesce(i.lead_time_minutes, floor(${seconds} / 60))`
}

interface ServiceItemOptions {
  readonly value: Sql
  readonly reasons?: readonly (readonly [Reason, Sql])[]
}

/** Selects the incidents by their date of creation. */
export function serviceIncidents(query: MetricQuery, { value, reasons = [] }: ServiceItemOptions): Sql {
  const { from, where } = incidentsOf(query)
  const { categories, component } = serviceOf(query)
  const words = Array.isArray(categories) ? sql.join(categories) : categories
  return selectItems(query.dialect, {
    kind: 'incident',
    id: sql`i.id`,
    at: sql`i.created_date`,
    value,
    reason: firstOf(
      words === null ? null : ['other_category', sql`${categoryOf('i.id')} not in (${words})`],
      component === null
        ? null
        : ['other_component', sql`not ${hasComponent(query.dialect, 'i.component', sql`${component}`)}`],
      ['outside_time_range', outside(sql`i.created_date`, query)],
      ...reasons,
    ),
    ...ofTicket,
    from: sql`${from} ${words === null ? sql`` : NO_CATEGORY} where ${where}`,
  })
}
