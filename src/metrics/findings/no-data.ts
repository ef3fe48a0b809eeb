/** Says why there is no number, in one sentence that follows "no data, because", and what to do about it. */
import { type Material, type Metric, REASONS, type Reason } from '../metric.ts'
import { REMEDIES } from './remedies.ts'

export interface NoData {
  readonly because: string
  readonly remedy: string
}

const WEBHOOK = 'or let your tools report them to a webhook connection'
const MISSING: Readonly<Record<Material, NoData>> = {
  deployments: {
    because: 'no deployments are collected',
    remedy: `Add a source of deployments to the project (entity CICD) and let deploymentPattern (names) or productionBranchPattern (branches) of its scope config match what deploys, ${WEBHOOK}.`,
  },
  incidents: {
    because: 'no incidents are collected',
    remedy: `Add a board to the project (entity TICKET) and let issueTypeIncident, typeMappings or issueTextIncident of its scope config name what is an incident, ${WEBHOOK}.`,
  },
  'pull requests': {
    because: 'no pull requests are collected',
    remedy: 'Add a repository to the project, with the entities CODE and CODEREVIEW, and run the project.',
  },
  history: {
    because: 'no git history is collected',
    remedy: 'Add a repository to the project, with the entity CODE, and run the project.',
  },
  issues: {
    because: 'no issues are collected',
    remedy: 'Add a board to the project (entity TICKET), and run the project.',
  },
  builds: {
    because: 'no builds are collected',
    remedy: 'Add a source of builds to the project (entity CICD), and run the project.',
  },
}

export const NO_INCIDENTS = MISSING.incidents
/** Sources of incidents are connected, but reported none. */
export const NONE_HAPPENED: NoData = {
  because: 'no incidents were found',
  remedy: 'Nothing to do, unless there were some: then let the rules of the scope config name them.',
}

/** A ratio needs at least one deployment to divide by. */
export const NO_DEPLOYMENT_IN_RANGE: NoData = {
  because: 'no successful deployment to this environment finished in the time range',
  remedy: 'Choose a longer range, or see in the explanation of deployment frequency why none counts.',
}

const nothingCollected = ({ counts, madeOf }: Metric): NoData => MISSING[counts ?? (madeOf[0] as Material)]

export interface LeftOut {
  readonly reason: Reason
  readonly meaning: string
  readonly count: number
}

/** Makes a sentence of a reason, which speaks of one item: `none of the 3 incidents counts, 2 of them for this reason: it is not resolved`. */
function becauseOf(what: Material, total: number, count: number, reason: string): string {
  const meaning = `${reason.charAt(0).toLowerCase()}${reason.slice(1).replace(/\.$/, '')}`
  if (total === 1) return `the only ${what.replace(/s$/, '')} does not count: ${meaning}`
  const share = count === total ? 'each' : `${count} of them`
  return `none of the ${total} ${what} counts, ${share} for this reason: ${meaning}`
}

/**
 * Explains a missing value by the items that were looked at and do not count. Items that only the time range leaves out are named
 * first, because they would count otherwise.
 */
export function nothingCounts(metric: Metric, total: number, leftOut: readonly LeftOut[]): NoData {
  const first =
    leftOut.find(({ reason }) => reason === 'outside_time_range') ??
    leftOut.find(({ reason }) => reason !== 'other_time') ??
    leftOut[0]
  if (total === 0 || !first) return nothingCollected(metric)
  const { reason, count } = first
  const what = metric.counts ?? (metric.madeOf[0] as Material)
  return { because: becauseOf(what, total, count, REASONS[reason]), remedy: REMEDIES[reason].remedy }
}
