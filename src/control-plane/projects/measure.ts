/**
 * Computes the metrics of projects in the one way that all pages and interfaces use. Grades are given only where there is
 * something to grade.
 */

import { NO_INCIDENTS, NONE_HAPPENED, type NoData } from '../../metrics/findings/no-data.ts'
import type { Metric, MetricFilter } from '../../metrics/metric.ts'
import { isOfService } from '../../metrics/parts.ts'
import {
  type Bucket,
  type Explanation,
  NO_VALUE,
  type Point,
  readManySeries,
  readMetrics,
} from '../../metrics/read/read.ts'
import { NO_CATEGORY_FIELD } from '../../metrics/service/service-incidents.ts'
import { unknownWords } from '../../metrics/service/service-words.ts'
import type { ServiceContext } from '../services.ts'
import { projectsWithoutIncidents } from './incident-sources.ts'

export type Measured = Pick<ServiceContext, 'database' | 'plugins'>

export async function measure(
  context: Measured,
  metric: Metric,
  filters: readonly MetricFilter[],
  isExplained = false,
): Promise<Explanation[]> {
  const read = await readExactly(context, metric, filters, isExplained)
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

/**
 * Reads metrics. Where no record counts, the reason matters most and must be the same as in the explanation, so those values
 * are read again with their explanation.
 */
async function readExactly(
  { database }: Measured,
  metric: Metric,
  filters: readonly MetricFilter[],
  isExplained: boolean,
): Promise<Explanation[]> {
  const read = await readMetrics(database, metric, filters, isExplained)
  if (isExplained || !metric.hasFinerReasons) return read
  const vague = [...read.entries()].filter(([, { value, total }]) => value === null && total > 0)
  if (vague.length === 0) return read
  const asked = vague.map(([place]) => filters[place] as MetricFilter)
  const exact = await readMetrics(database, metric, asked, true)
  const byPlace = new Map(vague.map(([place], index) => [place, exact[index] as Explanation]))
  return read.map((each, place) => byPlace.get(place) ?? each)
}

/**
 * Reads the values over time. When the overall value is "no data", all buckets are empty too: a line of zeros would say that
 * nothing happened.
 */
export async function measureSeries(
  context: Measured,
  metric: Metric,
  filters: readonly MetricFilter[],
  bucket: Bucket,
  /** The overall values, if the caller has them already. */
  values?: readonly Explanation[],
): Promise<Point[][]> {
  const series = await readManySeries(context.database, metric, filters, bucket)
  const flat = [...series.entries()].filter(([, points]) => points.every(({ value }) => !value)).map(([place]) => place)
  const known =
    values ??
    (await measure(
      context,
      metric,
      flat.map((place) => filters[place] as MetricFilter),
    ))
  const isNothing = new Set(flat.filter((place, index) => known[values ? place : index]?.value === null))
  return series.map((points, place) =>
    isNothing.has(place) ? points.map((point) => ({ ...point, value: null })) : points,
  )
}

function withoutValue({ noGrade: _, ...rest }: Explanation, noData: NoData): Explanation {
  return { ...rest, ...NO_VALUE, grades: [], noData }
}

/** True when the value leaves open whether any source reports incidents. A value above 0 shows that one does. */
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
