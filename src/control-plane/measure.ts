/** The numbers of projects as everybody is told them: graded only where there is something to grade. */
import type { Metric, MetricFilter } from '../metrics/metric.ts'
import { NO_INCIDENTS, NONE_HAPPENED } from '../metrics/no-data.ts'
import { type Explanation, NO_VALUE, readMetrics } from '../metrics/read.ts'
import { projectsWithoutIncidents } from './incident-sources.ts'
import type { ServiceContext } from './services.ts'

export type Measured = Pick<ServiceContext, 'database' | 'plugins'>

export async function measure(
  context: Measured,
  metric: Metric,
  filters: readonly MetricFilter[],
  isExplained = false,
): Promise<Explanation[]> {
  const read = await readMetrics(context.database, metric, filters, isExplained)
  if (!metric.madeOf.includes('incidents')) return read
  const doubtful = filters.filter((_, place) => isDoubtful(read[place] as Explanation))
  const without = await projectsWithoutIncidents(context, [...new Set(doubtful.map(({ project }) => project))])
  return read.map((each, place) => {
    if (!isDoubtful(each)) return each
    if (without.has(filters[place]?.project ?? '')) {
      const { noGrade: _, ...rest } = each
      return { ...rest, ...NO_VALUE, grades: [], noData: NO_INCIDENTS }
    }
    return each.value === null ? { ...each, noData: NONE_HAPPENED } : each
  })
}

/** Where another number than none is known, something told of incidents. */
const isDoubtful = ({ value, noData }: Explanation) => value === 0 || noData === NO_INCIDENTS

export async function measureOne(
  context: Measured,
  metric: Metric,
  filter: MetricFilter,
  isExplained = false,
): Promise<Explanation> {
  const [explained] = await measure(context, metric, [filter], isExplained)
  return explained as Explanation
}
