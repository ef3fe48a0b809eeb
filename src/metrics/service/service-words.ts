/** Finds the categories and components of a project's incidents, and warns about chosen ones that no incident has. */
import { sql } from 'kysely'
import { hintOf, shortName } from '../../basics/nearest.ts'
import type { Database } from '../../database/database.ts'
import type { Sql } from '../calculate/calculation.ts'
import type { NoData } from '../findings/no-data.ts'
import type { MetricFilter, MetricQuery } from '../metric.ts'
import { incidentsOf } from '../sources.ts'
import { componentsOf } from './service-components.ts'
import { categoryOf, categoryTable, NO_CATEGORY, serviceOf } from './service-incidents.ts'

/** Returns `category` and `component` of each incident of the project, empty where it has none. */
export function serviceWords(query: MetricQuery): Sql {
  const { from, where } = incidentsOf(query)
  return sql`select ${categoryOf('i.id')} as category, coalesce(i.component, '') as component ${from} ${NO_CATEGORY} where ${where}`
}

interface UnknownWords {
  /** One sentence for each category and component that no incident has. */
  readonly sentences: readonly string[]
  /** Set if none of the chosen categories exists, or the component does not. Then no number means anything. */
  readonly noData?: NoData
}

export async function unknownWords(database: Database, filter: MetricFilter): Promise<UnknownWords> {
  const { categories, component } = serviceOf(filter)
  // Without the field, another message says that it is missing.
  const canTell = Array.isArray(categories) && (await categoryTable(database)) !== undefined
  const chosen = {
    category: canTell ? (categories as readonly string[]) : [],
    component: typeof component === 'string' ? [component] : [],
  }
  if (chosen.category.length + chosen.component.length === 0) return { sentences: [] }
  const query = { ...filter, dialect: database.dialect, isExplained: false }
  const { rows } = await sql<Record<keyof typeof chosen, string>>`select distinct category, component
    from (${serviceWords(query)}) each_one`.execute(database.kysely)
  // Without any incidents, another message says so.
  if (rows.length === 0) return { sentences: [] }
  const found = (['category', 'component'] as const).map((what) => {
    const wordsOf = (row: (typeof rows)[number]) => (what === 'component' ? componentsOf(row.component) : [row[what]])
    const known = [...new Set(rows.flatMap(wordsOf))].filter((each) => each !== '').sort()
    const unknown = chosen[what].filter((each) => !known.includes(each))
    const sentences = unknown.map(
      (each) => `no incident of ${filter.project} has the ${what} ${shortName(each)}${hintOf(each, known)}`,
    )
    return { what, sentences, isNothingLeft: unknown.length > 0 && unknown.length === chosen[what].length }
  })
  const nothing = found.find(({ isNothingLeft }) => isNothingLeft)
  const noData = nothing && {
    because: (nothing.sentences[0] ?? '').replace(/\.$/, ''),
    remedy: `Choose a ${nothing.what} that is there, or leave it out.`,
  }
  const sentences = found
    .flatMap((each) => each.sentences)
    .map((each) => `${each.charAt(0).toUpperCase()}${each.slice(1)}`)
  return { sentences, ...(noData && { noData }) }
}
