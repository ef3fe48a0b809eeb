/** Reads a metric for several filters whose policies may need different statements. */
import type { Database } from '../database/database.ts'
import type { NoData } from './findings/no-data.ts'
import type { Material, Metric, MetricFilter, Reading } from './metric.ts'
import { DEFAULT_POLICY, type Policy } from './policy/policy.ts'
import { REWORK_SIGNS } from './policy/rework-signs.ts'
import { type Asked, isMixed, metricOf, readable, type Whole, whyUnreadable } from './whole.ts'

const READING: Readonly<Record<Reading, string>> = {
  known: '',
  'panels-merged': "Read as DevLake's panels of throughput and cycle time: a time that is not known counts as 0.",
  'panels-deployed':
    "Read as DevLake's details of the lead time: of those deployed in the range, by date of that deployment, and a time that is not known counts as 0.",
}

/** Says what the metric counts under the policy and in the chosen reading. */
export function definitionOf(metric: Metric, asked: Asked): string {
  const own = metricOf(metric, asked)
  const rules = isMixed(asked)
    ? ['Each project counts by its own policy.']
    : [...policyWords(own, asked), countingOf(metric, asked)]
  return [own.definition, ...rules, READING[asked.reading ?? 'known']].filter((each) => each !== '').join(' ')
}

/** Says where a policy counts otherwise than the definition. */
function policyWords(
  { madeOf, isOfRework, isOfService: ofService }: Metric,
  { policy }: Pick<MetricFilter, 'policy'>,
): string[] {
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
    isOfRework && reworkWords(policy),
    isMadeOf('pull requests') && excludeBots && 'By the policy, pull requests of bots are left out.',
  ].filter((each): each is string => typeof each === 'string' && each !== '')
}

/** Says what counts as rework, if it is not what the definition says. */
function reworkWords({ reworkSigns, reworkBranches }: Policy): string {
  const { reworkSigns: signs, reworkBranches: branches } = DEFAULT_POLICY
  const isStandard = signs.every((sign) => reworkSigns.includes(sign)) && String(branches) === String(reworkBranches)
  if (isStandard) return ''
  const words = reworkSigns.map((sign) =>
    sign === 'hotfix' ? `a branch that begins with ${reworkBranches.join(' or ')}` : REWORK_SIGNS[sign],
  )
  return `By the policy, only these count: ${words.join(', ')}.`
}

/** Says how deployments are counted, for metrics that are made of them. */
const countingOf = ({ madeOf }: Metric, { policy }: Pick<MetricFilter, 'policy'>): string => {
  if (!madeOf.includes('deployments')) return ''
  return policy.rollouts === 'every-row'
    ? 'Every row of a deployment counts, as in DevLake.'
    : 'A rollout that several rows tell of counts once.'
}

/** Tells whether the database has the column that the metric needs. */
export const canRead = async (database: Database, metric: Metric, asked: Asked): Promise<boolean> =>
  (await readable(database, metric, asked)) !== null

/** Reads together all filters whose policies use the same statement. `nothing` gives the result for those that cannot be read. */
export async function inParts<Result>(
  database: Database,
  metric: Metric,
  filters: readonly Asked[],
  read: (metric: Metric, filters: readonly Whole[]) => Promise<Result[]>,
  nothing: (filter: Asked, noData: NoData) => Result,
): Promise<Result[]> {
  const results: Result[] = []
  const known = await Promise.all(filters.map((filter) => readable(database, metric, filter)))
  const fine: { place: number; whole: Whole; own: Metric }[] = []
  for (const [place, whole] of known.entries()) {
    if (whole) fine.push({ place, whole, own: metricOf(metric, whole) })
    else {
      const asked = filters[place] as Asked
      results[place] = nothing(asked, await whyUnreadable(database, asked))
    }
  }
  const ways = Map.groupBy(fine, ({ own }) => `${own.name} ${own.summary} ${own.definition}`)
  for (const entries of ways.values()) {
    const values = await read(
      (entries[0] as (typeof fine)[number]).own,
      entries.map(({ whole }) => whole),
    )
    for (const [index, { place }] of entries.entries()) results[place] = values[index] as Result
  }
  return results
}
