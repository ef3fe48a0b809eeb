/** Reads every metric of every project by month. A retention must not change any of them. */

import { nearlyEqual } from '../../basics/nearly-equal.ts'
import { type Measured, measure } from '../../control-plane/projects/measure.ts'
import { policyOfProject } from '../../control-plane/projects/project-policy.ts'
import { selectRows } from '../../control-plane/store.ts'
import { metrics } from '../../metrics/index.ts'
import type { MetricFilter } from '../../metrics/metric.ts'
import { readManySeries } from '../../metrics/read/read.ts'
import { projects } from '../../system/projects.ts'

const YEARS_BACK = 5
/** The number of projects that one statement reads. */
const AT_ONCE = 50

/** The values by project and metric, in their JSON form. */
type MetricProof = ReadonlyMap<string, unknown>

export async function proveMetrics(context: Measured, now: Date): Promise<MetricProof> {
  const { database } = context
  const from = new Date(now)
  from.setUTCFullYear(from.getUTCFullYear() - YEARS_BACK)
  const names = (await selectRows(database.kysely, projects, (query) => query.orderBy('name'))).map(({ name }) => name)
  const proof = new Map<string, unknown>()
  for (let first = 0; first < names.length; first += AT_ONCE) {
    const filters: MetricFilter[] = []
    for (const project of names.slice(first, first + AT_ONCE)) {
      const policy = await policyOfProject(database, project)
      filters.push({ project, environment: 'PRODUCTION', policy, from, to: now })
    }
    for (const metric of metrics) {
      const values = await measure(context, metric, filters)
      const series = await readManySeries(database, metric, filters, 'month')
      for (const [place, { project }] of filters.entries()) {
        proof.set(`${metric.title} of ${project}`, JSON.parse(JSON.stringify([values[place], series[place]])))
      }
    }
  }
  return proof
}

/** Lists the metrics that changed. Databases add fractions in the order of the rows, so the last digits of a mean may differ. */
export const differences = (before: MetricProof, after: MetricProof): string[] =>
  [...before].flatMap(([name, value]) => (nearlyEqual(after.get(name), value) ? [] : [name]))
