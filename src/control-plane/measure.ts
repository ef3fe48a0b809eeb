/** The numbers of projects as everybody is told them: graded only where there is something to grade. */
import type { Metric, MetricFilter } from '../metrics/metric.ts'
import { NO_INCIDENTS, NONE_HAPPENED, type NoData } from '../metrics/no-data.ts'
import { isOfService } from '../metrics/parts.ts'
import { type Explanation, NO_VALUE, readMetrics } from '../metrics/read.ts'
import { NO_CATEGORY_FIELD } from '../metrics/service-incidents.ts'
import { unknownWords } from '../metrics/service-words.ts'
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
  return Promise.all(
    read.map(async (each, place) => {
      const filter = filters[place] as MetricFilter
      if (isDoubtful(each) && without.has(filter.project)) return withoutValue(each, NO_INCIDENTS)
      if (isOfService(metric, filter) && !each.value && each.noData !== NO_CATEGORY_FIELD) {
        const { noData } = await unknownWords(context.database, filter)
        if (noData) return withoutValue(each, noData)
      }
      return isDoubtful(each) && each.value === null ? { ...each, noData: NONE_HAPPENED } : each
    }),
  )
}

function withoutValue({ noGrade: _, ...rest }: Explanation, noData: NoData): Explanation {
  return { ...rest, ...NO_VALUE, grades: [], noData }
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
