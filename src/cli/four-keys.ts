/** The four keys of a project as lines of text: the numbers, or why there is none. */
import { policyOfProject, rangeOf } from '../api/metric-filter.ts'
import { findingsOf } from '../metrics/findings.ts'
import { fourKeys } from '../metrics/index.ts'
import type { Metric, MetricFilter } from '../metrics/metric.ts'
import type { Explanation } from '../metrics/read.ts'
import { measureOne } from '../pipelines/measure.ts'
import type { ServiceContext } from '../pipelines/services.ts'

type Context = Pick<ServiceContext, 'database' | 'plugins'>

const HOUR = 60
const DAY = 24 * HOUR

function shown({ unit }: Metric, value: number): string {
  if (unit === 'share') return `${(value * 100).toFixed(1)} %`
  if (unit !== 'minutes') return `${Number(value.toFixed(2))} ${unit}`
  if (value >= 2 * DAY) return `${(value / DAY).toFixed(1)} days`
  return value >= 2 * HOUR ? `${(value / HOUR).toFixed(1)} hours` : `${Math.round(value)} minutes`
}

const gradeOf = ({ grades }: Explanation) => (grades.length > 0 ? ` (${grades.at(-1)?.band})` : '')

export async function fourKeyLines(context: Context, project: string): Promise<string[]> {
  const { database } = context
  const policy = await policyOfProject(database, project)
  const filter: MetricFilter = { project, environment: 'PRODUCTION', policy, ...rangeOf({}) }
  const lines = [`The four keys of ${project} since ${filter.from.toISOString().slice(0, 10)}:`]
  const told = new Set<string>()
  for (const metric of fourKeys) {
    const read = await measureOne(context, metric, filter)
    const title = `    ${metric.title}: `
    lines.push(
      read.value === null
        ? `${title}no data, because ${read.noData?.because}`
        : title + shown(metric, read.value) + gradeOf(read),
    )
    if (read.counted > 0) continue
    for (const { seen, remedy } of await findingsOf(database, metric, filter)) {
      if (!told.has(seen)) lines.push(`        ${seen} ${remedy}`)
      told.add(seen)
    }
  }
  return lines
}
