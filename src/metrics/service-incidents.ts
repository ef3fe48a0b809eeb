/** The incidents of a service: issues of type INCIDENT that a category and a component choose. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Sql } from './calculate/calculation.ts'
import { firstOf, type MetricQuery, outside, type Reason, type ServiceChoice, selectItems } from './metric.ts'
import type { NoData } from './no-data.ts'
import { issuesOf, ofTicket } from './sources.ts'

/** A column that users add themselves. */
export const CATEGORY_FIELD = 'x_issue_category'

export const NO_CATEGORY_FIELD: NoData = {
  because: `issues have no field ${CATEGORY_FIELD}, so nothing tells their category`,
  remedy:
    `Add it by POST /plugins/customize/issues/fields with {"columnName": "${CATEGORY_FIELD}", "displayName": ` +
    '"Issue category", "dataType": "varchar(255)"}, let the blueprint fill it (POST /v1/blueprints/{id}/mappings), and run the project.',
}

/** What the request asks for, or else what the project has chosen. */
export const serviceOf = ({ service, policy }: Pick<MetricQuery, 'service' | 'policy'>): ServiceChoice =>
  service ?? { categories: policy.issueCategories, component: policy.component }

export async function hasCategoryField(database: Database): Promise<boolean> {
  const tables = await database.describe()
  return tables.get('issues')?.columns.has(CATEGORY_FIELD) ?? false
}

/** Minutes that it took: as the tool says, or else until it was touched last. */
export function recoveryMinutes({ dialect }: MetricQuery): Sql {
  const seconds = sql.raw(dialect.secondsBetween('i.created_date', 'i.updated_date'))
  return sql`coalesce(i.lead_time_minutes, floor(${seconds} / 60))`
}

export interface ServiceItemOptions {
  readonly value: Sql
  readonly reasons?: readonly (readonly [Reason, Sql])[]
}

/** By date of creation. */
export function serviceIncidents(query: MetricQuery, { value, reasons = [] }: ServiceItemOptions): Sql {
  const { from, where } = issuesOf(query)
  const { categories, component } = serviceOf(query)
  const words = Array.isArray(categories) ? sql.join(categories) : categories
  return selectItems(query.dialect, {
    kind: 'issue',
    id: sql`i.id`,
    at: sql`i.created_date`,
    value,
    reason: firstOf(
      words === null
        ? null
        : ['other_category', sql`coalesce(${sql.ref(`i.${CATEGORY_FIELD}`)}, '') not in (${words})`],
      component === null ? null : ['other_component', sql`coalesce(i.component, '') <> ${component}`],
      ['outside_time_range', outside(sql`i.created_date`, query)],
      ...reasons,
    ),
    ...ofTicket,
    from: sql`${from} where ${where} and i.type = 'INCIDENT'`,
  })
}
