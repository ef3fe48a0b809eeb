/** Panels that show the stages of pull requests side by side. */
import { sql } from 'kysely'
import type { Metric } from '../../metrics/metric.ts'
import { minutes, TIME } from '../columns.ts'
import type { Panel } from '../dashboard.ts'
import { double } from '../expressions.ts'
import { countedItems, measuresByInterval } from '../statements.ts'

const TITLES = { coding: 'Coding', pickup: 'Pickup', review: 'Review', deploy: 'Deploy' } as const
type Stage = keyof typeof TITLES
const STAGES = Object.keys(TITLES) as Stage[]

export const stageColumns = Object.fromEntries(STAGES.map((stage) => [stage, minutes(TITLES[stage])]))

export const stagesSeries = (
  metrics: Readonly<Record<Stage, Metric>>,
  own: Pick<Panel, 'name' | 'title' | 'definition' | 'remedy'>,
): Panel => ({
  ...own,
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, ...stageColumns },
  statement: (query) => {
    const rows = STAGES.map(
      (stage) => sql`select ${sql.lit(stage)} as stage, item.at, ${double(query, sql`item.value`)} as value
        from (${countedItems(query, metrics[stage])}) item`,
    )
    const measures = STAGES.map((stage) => [stage, sql`avg(case when stage = ${sql.lit(stage)} then value end)`])
    return measuresByInterval(query, sql.join(rows, sql` union all `), { values: Object.fromEntries(measures) })
  },
})
