import type { Balancer } from '../balancer.ts'
import type { Cluster } from '../cluster.ts'
import { TrafficError } from '../finding.ts'
import type { Ingress } from '../manifests.ts'
import type { Plan } from '../plan.ts'
import type { SwitchChanges, SwitchRow } from '../store.ts'

/** The world outside: two clusters, one balancer, and the name servers. */
export interface Outside {
  readonly current: Cluster
  readonly target: Cluster
  readonly balancer: Balancer
  addressesOf(hostname: string): Promise<readonly string[]>
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
  /** What the switch remembers once it is so. */
  learned?(): SwitchChanges
}

export interface EffectContext {
  readonly plan: Plan
  readonly outside: Outside
  /** The switch as it is now; effects before this one may have changed it. */
  row(): SwitchRow
  /** The operator has seen the drift and wants the live value to be the base. */
  readonly acceptsLive: boolean
}

export const arnOf = ({ row, plan }: EffectContext): string => {
  const arn = row().target_group_arn ?? plan.targetGroup.arn
  if (arn === undefined || arn === null)
    throw new TrafficError('conflict', `Target group ${plan.targetGroup.name} does not exist yet. Run prepare first.`)
  return arn
}

export const loadBalancerHostname = (ingress: Ingress | undefined): string | undefined =>
  (ingress?.status as { loadBalancer?: { ingress?: { hostname?: string }[] } } | undefined)?.loadBalancer?.ingress?.[0]
    ?.hostname
