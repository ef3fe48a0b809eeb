/** Says how many items a number is made of. It is shown beside the number, so that a median of two incidents is not taken for one of two hundred. */
import { counted } from '../../basics/counted.ts'
import type { Material, Metric, MetricFilter, Reason } from '../metric.ts'
import { underPolicy } from '../parts.ts'
import type { Explanation } from './read.ts'

/** Reasons of items that could count if more were known. All other reasons leave out items that the question is not about. */
const COULD_COUNT: ReadonlySet<Reason> = new Set([
  ...([
    'not_calculated',
    'no_git_history',
    'no_merge_commit',
    'merge_commit_in_no_deployment',
    'only_in_first_deployment',
  ] as const),
  ...(['only_in_other_environment', 'no_deployments', 'not_finished', 'no_deployment_before_incident'] as const),
  ...(['not_resolved', 'no_duration', 'clock_backwards', 'no_result'] as const),
])

const one = (material: Material): string => material.replace(/s$/, '')

const nounOf = (metric: Metric, { policy }: Pick<MetricFilter, 'policy'>): string => {
  const what = metric.counts ?? (metric.madeOf[0] as Material)
  // The items are pull requests, and commits that came without one.
  if (what === 'pull requests' && policy.countTrunkCommits && metric.madeOf.includes('history')) return 'change'
  return one(what)
}

/** Writes the two numbers that a ratio divides, as in `4 incidents for 10 deployments`. Their sum would be mistaken for the divisor. */
function dividedWords([part, whole]: readonly [Material, Material], { value, counted: all }: Explanation): string {
  const below = value === null ? 0 : Math.round(all / (1 + value))
  return `${counted(all - below, one(part))} for ${counted(below, one(whole))}`
}

/** Counts the items that do not count, but would if more were known. */
export const couldCount = ({ leftOut }: Pick<Explanation, 'leftOut'>): number =>
  leftOut.reduce((sum, { reason, count }) => sum + (COULD_COUNT.has(reason) ? count : 0), 0)

/** Returns `2 incidents` or `50 of 168 pull requests`; empty if nothing counts. */
export function restsOn(asked: Metric, filter: Pick<MetricFilter, 'policy'>, explained: Explanation): string {
  const metric = underPolicy(asked, filter)
  const noun = nounOf(metric, filter)
  const missing = couldCount(explained)
  if (explained.counted === 0) return ''
  if (metric.divides) return dividedWords(metric.divides, explained)
  if (missing === 0) return counted(explained.counted, noun)
  return `${explained.counted.toLocaleString('en')} of ${counted(explained.counted + missing, noun)}`
}
