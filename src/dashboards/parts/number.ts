import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import type { Panel, PanelQuery } from '../dashboard.ts'
import type { Population } from '../populations.ts'

type Own = Pick<Panel, 'name' | 'title' | 'definition' | 'columns' | 'better' | 'remedy'>

/** Makes a panel with a large number. `rows` are those of the population, and more conditions can follow them. */
export const numberOf = (
  population: Population,
  own: Own,
  statement: (query: PanelQuery, rows: Sql) => Sql,
): Panel => ({
  look: 'number',
  width: 6,
  height: 5,
  ...own,
  statement: (query) => {
    const { from, where } = population(query)
    return statement(query, sql`${from} where ${where}`)
  },
})
