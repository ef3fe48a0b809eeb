/** Decides which runs and jobs are deployments, and of which environment. Sources use it, and so do previews of their rules. */

type Matcher = (text: string) => boolean

/** A matcher is null if the rule is not set. */
export interface DeliveryMatchers {
  readonly deployment: Matcher | null
  readonly production: Matcher | null
  readonly productionBranch: Matcher | null
}

/** A run of a pipeline, or one of its jobs. */
export interface Run {
  /** The texts that the pattern for deployments is matched against. */
  readonly names: readonly string[]
  /** The texts that the pattern for production is matched against, if these are more than the names. */
  readonly places?: readonly string[]
  /** Branches or tags that the run has checked out. A job has those of its run. */
  readonly branches?: readonly (string | null | undefined)[]
  readonly isJob?: boolean
  /** As in DevLake: without a pattern for production or for branches, runs of this kind are not production. */
  readonly isProductionNamed?: boolean
}

export interface Delivery {
  readonly type: 'DEPLOYMENT' | ''
  readonly environment: 'PRODUCTION' | ''
}

/** `refs/heads/main` and `origin/main` are main: a pattern for branches fits every source. */
export const branchName = (ref: string): string => ref.replace(/^(refs\/(heads|tags|remotes\/[^/]+)\/|origin\/)/, '')

/**
 * A run is a production deployment if everything that is set matches. Without a pattern for deployments, a pattern for branches
 * is enough for a run. A job then also needs a pattern for production, because not every job of such a run deploys.
 */
export function deliveryOf({ deployment, production, productionBranch }: DeliveryMatchers, run: Run): Delivery {
  const { names, places = names, branches = [], isJob = false, isProductionNamed = false } = run
  const isNamed = production === null ? productionBranch !== null || !isProductionNamed : places.some(production)
  // One of several checkouts may be a library, which is always on its main branch, so all must match.
  const known = branches.flatMap((branch) => branch || [])
  const isOnBranch = productionBranch === null || (known.length > 0 && known.map(branchName).every(productionBranch))
  const isProduction = isNamed && isOnBranch
  const deploys =
    deployment === null
      ? productionBranch !== null && isProduction && !(isJob && production === null)
      : names.some(deployment)
  return { type: deploys ? 'DEPLOYMENT' : '', environment: isProduction ? 'PRODUCTION' : '' }
}
