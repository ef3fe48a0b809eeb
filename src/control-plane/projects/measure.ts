/**
 * Computes the metrics of projects in the one way that all pages and interfaces use. Grades are given only where there is
 * something to grade.
 */

import { NO_INCIDENTS, NONE_HAPPENED, type NoData } from '../../metrics/findings/no-data.ts'
import type { Metric } from '../../metrics/metric.ts'
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
import { type Asked, metricOf, partsOf, projectsOf } from '../../metrics/whole.ts'
import type { ServiceContext } from '../services.ts'
import { areAllWithoutIncidents, projectsWithoutIncidents } from './incident-sources.ts'

export type Measured = Pick<ServiceContext, 'database' | 'plugins'>

const isOne = (filter: Asked): boolean => partsOf(filter).length === 1

export async function measure(
  context: Measured,
  metric: Metric,
  filters: readonly Asked[],
  isExplained = false,
): Promise<Explanation[]> {
  return settled(context, metric, filters, await readExactly(context, metric, filters, isExplained))
}

/** Takes away values of 0 that only say that nothing reports incidents. */
export async function settled(
  context: Measured,
  metric: Metric,
  filters: readonly Asked[],
  read: Explanation[],
): Promise<Explanation[]> {
  if (!metric.madeOf.includes('incidents')) return read
  const doubtful = filters.filter((filter, place) => isDoubtful(read[place] as Explanation) && isOne(filter))
  const without = await projectsWithoutIncidents(context, [...new Set(doubtful.flatMap(projectsOf))])
  const isWithout = async (filter: Asked) =>
    isOne(filter) ? without.has(projectsOf(filter)[0] ?? '') : areAllWithoutIncidents(context, projectsOf(filter))
  return Promise.all(
    read.map(async (each, place) => {
      const filter = filters[place] as Asked
      if (isDoubtful(each) && (await isWithout(filter))) return withoutValue(each, NO_INCIDENTS)
      const [only] = partsOf(filter)
      const isOfService = metricOf(metric, filter).isOfService && isOne(filter)
      if (only && isOfService && !each.value && each.noData !== NO_CATEGORY_FIELD) {
        const { noData } = await unknownWords(context.database, only)
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
  filters: readonly Asked[],
  isExplained: boolean,
): Promise<Explanation[]> {
  const read = await readMetrics(database, metric, filters, isExplained)
  if (isExplained || !metric.hasFinerReasons) return read
  const vague = [...read.entries()].filter(([, { value, total }]) => value === null && total > 0)
  if (vague.length === 0) return read
  const asked = vague.map(([place]) => filters[place] as Asked)
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
  filters: readonly Asked[],
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
      flat.map((place) => filters[place] as Asked),
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
  filter: Asked,
  isExplained = false,
): Promise<Explanation> {
  const [explained] = await measure(context, metric, [filter], isExplained)
  return explained as Explanation
}
