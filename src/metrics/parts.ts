/** Reads a metric for several filters whose policies may need different statements. */
import type { Database } from '../database/database.ts'
import type { Material, Metric, MetricFilter, Reading } from './metric.ts'
import { categoryTable, serviceOf } from './service/service-incidents.ts'

/** Returns the metric as the policy of a project counts it. */
export const underPolicy = (metric: Metric, { policy }: Pick<MetricFilter, 'policy'>): Metric =>
  (policy.pairing === 'service-report' && metric.inServiceReport) || metric

const READING: Readonly<Record<Reading, string>> = {
  known: '',
  'panels-merged': "Read as DevLake's panels of throughput and cycle time: a time that is not known counts as 0.",
  'panels-deployed':
    "Read as DevLake's details of the lead time: of those deployed in the range, by date of that deployment, and a time that is not known counts as 0.",
}

/** Says what the metric counts under the policy and in the chosen reading. */
export const definitionOf = (metric: Metric, filter: Pick<MetricFilter, 'policy' | 'reading'>): string =>
  [
    underPolicy(metric, filter).definition,
    ...policyWords(underPolicy(metric, filter), filter),
    countingOf(metric, filter),
    READING[filter.reading ?? 'known'],
  ]
    .filter((each) => each !== '')
    .join(' ')

/** Says where a policy counts otherwise than the definition. */
function policyWords({ madeOf, isOfService: ofService }: Metric, { policy }: Pick<MetricFilter, 'policy'>): string[] {
  const isMadeOf = (...materials: readonly Material[]) => materials.every((each) => madeOf.includes(each))
  const blames = isMadeOf('deployments', 'incidents') && !ofService
  const links = isMadeOf('deployments', 'pull requests', 'history')
  const { blameByService, blameWithinHours, firstDeploymentDays, linkSquashed, countTrunkCommits, excludeBots } = policy
  return [
    blames && blameByService && 'By the policy, it must be a deployment of what the component of the incident names.',
    blames &&
      blameWithinHours !== null &&
      `By the policy, it must have finished at most ${blameWithinHours} hours before.`,
    links &&
      firstDeploymentDays !== null &&
      `By the policy, the first deployment counts for those merged in the ${firstDeploymentDays} days before it.`,
    links && linkSquashed && 'By the policy, squashed and rebased pull requests are found by commits or messages.',
    links && countTrunkCommits && 'By the policy, commits without a pull request count, too.',
    isMadeOf('pull requests') && excludeBots && 'By the policy, pull requests of bots are left out.',
  ].filter((each) => each !== false)
}

/** Says how deployments are counted, for metrics that are made of them. */
const countingOf = ({ madeOf }: Metric, { policy }: Pick<MetricFilter, 'policy'>): string => {
  if (!madeOf.includes('deployments')) return ''
  return policy.rollouts === 'every-row'
    ? 'Every row of a deployment counts, as in DevLake.'
    : 'A rollout that several rows tell of counts once.'
}

/** Tells whether, under the policy, the metric is about the incidents of a service. */
export const isOfService = (metric: Metric, filter: Pick<MetricFilter, 'policy'>): boolean =>
  underPolicy(metric, filter).isOfService === true

const needsCategory = (metric: Metric, filter: MetricFilter): boolean =>
  isOfService(metric, filter) && serviceOf(filter).categories !== null

/** Tells whether the database has the column that the metric needs. */
export const canRead = async (database: Database, metric: Metric, filter: MetricFilter): Promise<boolean> =>
  !needsCategory(metric, filter) || (await categoryTable(database)) !== undefined

/** Reads together all filters whose policies use the same statement. `nothing` gives the result for those that cannot be read. */
export async function inParts<Result>(
  database: Database,
  metric: Metric,
  filters: readonly MetricFilter[],
  read: (metric: Metric, filters: readonly MetricFilter[]) => Promise<Result[]>,
  nothing: (filter: MetricFilter) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  const isFieldThere = filters.some((filter) => needsCategory(metric, filter))
    ? (await categoryTable(database)) !== undefined
    : false
  const parts = Map.groupBy(filters.entries(), ([, filter]) => underPolicy(metric, filter))
  for (const [own, entries] of parts) {
    const fine: [number, MetricFilter][] = []
    for (const entry of entries) {
      if (isFieldThere || !needsCategory(metric, entry[1])) fine.push(entry)
      else results[entry[0]] = nothing(entry[1])
    }
    if (fine.length === 0) continue
    const values = await read(
      own,
      fine.map(([, filter]) => filter),
    )
    for (const [index, [place]] of fine.entries()) results[place] = values[index] as Result
  }
  return results
}
