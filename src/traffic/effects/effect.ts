import type { SwitchChanges, SwitchRow } from '../engine/store.ts'
import type { GitOps } from '../gitops/gitops.ts'
import { TrafficError } from '../model/finding.ts'
import type { Ingress } from '../model/manifests.ts'
import type { Plan } from '../model/plan.ts'
import type { Balancer } from '../vendors/balancer.ts'
import type { Cluster } from '../vendors/cluster.ts'
import type { Metrics } from '../vendors/metrics.ts'

/** The world outside: two clusters, one balancer, and the name servers. */
export interface Outside {
  readonly current: Cluster
  readonly target: Cluster
  readonly balancer: Balancer
  readonly metrics: Metrics
  addressesOf(hostname: string): Promise<readonly string[]>
  /** Where the clusters are changed through a repository. */
  readonly git?: GitOps | undefined
}

/** One thing that has to be so. It is observed first, so that doing it twice does it once. */
export interface Effect {
  readonly name: string
  /** Why it is not so yet; undefined when it is. Throws when it can never be. */
  missing(): Promise<string | undefined>
  /** Makes it so. Absent where we can only wait. */
  apply?(dryRun: boolean): Promise<void>
  /** Apply again while waiting: the other side may refuse for a while. */
  readonly isRepeated?: boolean
  /** Not worth waiting for: somebody has to do it first. */
  readonly isInstant?: boolean
  /** Waited for so much longer than other effects, as far as the last look can tell. */
  extraSeconds?(): number
  /** What the switch remembers once it is so. */
  learned?(): SwitchChanges
}

export interface EffectContext {
  readonly plan: Plan
  readonly outside: Outside
  /** The switch as it is now; effects before this one may have changed it. */
  row(): SwitchRow
  /** The operator has seen the drift, or goes back whatever stands there: what is not ours is written over and recorded. */
  readonly overridesDrift: boolean
  /** What was written over, until the journal has it. */
  readonly overridden: string[]
  progress?: ((text: string) => void) | undefined
}

export const arnOf = ({ row, plan }: EffectContext): string => {
  const arn = row().target_group_arn ?? plan.targetGroup.arn
  if (arn === undefined || arn === null)
    throw new TrafficError('conflict', `Target group ${plan.targetGroup.name} does not exist yet. Run prepare first.`)
  return arn
}

export const liveCurrent = ({ plan, outside }: EffectContext): Promise<Ingress | undefined> =>
  outside.current.ingress(plan.current.namespace, plan.current.ingress.name)

export const loadBalancerHostname = (ingress: Ingress | undefined): string | undefined =>
  (ingress?.status as { loadBalancer?: { ingress?: { hostname?: string }[] } } | undefined)?.loadBalancer?.ingress?.[0]
    ?.hostname
