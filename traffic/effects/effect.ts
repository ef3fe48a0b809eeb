import { hasLostMemory, lostMemory } from '../engine/route-memory.ts'
import type { SwitchChanges, SwitchRow } from '../engine/store.ts'
import type { GitOps } from '../gitops/gitops.ts'
import { TrafficError } from '../model/finding.ts'
import type { Ingress } from '../model/manifests.ts'
import type { RoutePlan } from '../model/plan.ts'
import { skipping } from '../model/words.ts'
import type { AnswerClock } from '../vendors/aws-client.ts'
import type { Balancer } from '../vendors/balancer.ts'
import type { Cluster } from '../vendors/cluster.ts'
import type { Metrics } from '../vendors/metrics.ts'
import type { Zones } from '../vendors/zones.ts'

/** The outside world: two clusters, one load balancer, metrics and the name servers. */
export interface Outside {
  readonly current: Cluster
  readonly target: Cluster
  readonly balancer: Balancer
  readonly metrics: Metrics
  readonly zones: Zones
  /** The current time according to AWS. */
  readonly clock: Readonly<AnswerClock>
  /** Every address of a host name that at least one name server answers. */
  addressesOf(hostname: string): Promise<readonly string[]>
  /** Present when the clusters are changed through a repository. */
  readonly git?: GitOps | undefined
  /** The answer of each name server by itself. */
  answersOf(hostname: string): Promise<readonly Answer[]>
}

export interface Answer {
  /** Address of the name server; undefined for the resolver of this machine. */
  readonly server: string | undefined
  readonly addresses: readonly string[]
}

/** One condition that must hold. It is observed first, so that repeating an effect changes nothing. */
export interface Effect {
  readonly name: string
  /** The route that the effect belongs to, when the plan lists its routes. */
  readonly route?: string | undefined
  /** The reason why the condition does not hold yet; undefined when it holds. Throws when it can never hold. */
  missing(): Promise<string | undefined>
  /** Brings the condition about. Absent where Weir can only wait. */
  apply?(dryRun: boolean): Promise<void>
  /** Apply again while waiting, because the other side may refuse for a while. */
  readonly isRepeated?: boolean
  /** Run again even if it was done before, because what it looks at may have changed since. */
  readonly isAlways?: boolean
  /** Checked once more if it was done before, and applied again only if somebody has undone it since. */
  readonly isHeld?: boolean
  /** Not worth waiting for, because somebody has to act first. */
  readonly isInstant?: boolean
  /** Advice for somebody who has waited in vain. */
  readonly wayOut?: string
  /** Seconds to wait longer than for other effects, as far as the last look can tell. */
  extraSeconds?(): number
  /** The result in words, where `done` says too little. */
  outcome?(): string | undefined
  /** Columns of the switch to store once the condition holds. */
  learned?(): SwitchChanges
}

export interface EffectContext {
  readonly plan: RoutePlan
  /** All routes of the switch; several of them may use the same Ingress. */
  readonly routes?: readonly RoutePlan[]
  readonly outside: Outside
  /** The switch as it is now. Earlier effects may have changed it. */
  row(): SwitchRow
  /** The operator has seen the drift, or rolls back regardless of it: values that Weir did not write are overwritten and recorded. */
  readonly overridesDrift: boolean
  /** Another process was working on the switch when this one took it over. */
  readonly tookOver?: boolean | undefined
  /** Descriptions of what was overwritten, until the journal has them. */
  readonly overridden: string[]
  progress?: ((text: string) => void) | undefined
  /** The engine's clock, for waiting times that outlast a process. */
  readonly now?: (() => Date) | undefined
}

/** Refuses drift. If going on was decided, keeps for the journal what is about to be overwritten. */
export function meetDrift({ overridesDrift, overridden }: EffectContext, what: string): void {
  if (!overridesDrift)
    throw new TrafficError(
      'conflict',
      `Drift: ${what}\nNothing was overwritten. Put it back, repeat with ${skipping('acceptLive')} to start from the live value, or roll back.`,
    )
  if (!overridden.includes(what)) overridden.push(what)
}

/** Unique among the effects of an action. The journal keeps the result of the effect under this key. */
export const effectKey = ({ name, route }: Pick<Effect, 'name' | 'route'>): string =>
  route === undefined ? name : `${name} (${route})`

/** Adds the route to the message, because the reader of a refusal must know which route it is about. */
async function naming<T>(route: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error) error.message = `Route ${route}: ${error.message}`
    throw error
  }
}

/** The effect for one of several routes: it carries the route's name, and so do its errors. */
export function ofRoute(effect: Effect, route: string | undefined): Effect {
  if (route === undefined) return effect
  const { missing, apply } = effect
  return {
    ...effect,
    route,
    missing: () => naming(route, missing),
    ...(apply === undefined ? {} : { apply: (dryRun) => naming(route, () => apply(dryRun)) }),
  }
}

export const knownArn = ({ row, plan }: EffectContext): string | undefined =>
  row().target_group_arn ?? plan.targetGroup.arn

export const arnOf = (context: EffectContext): string => {
  const arn = knownArn(context)
  if (arn !== undefined) return arn
  const { id, routes } = context.row()
  throw new TrafficError(
    'conflict',
    hasLostMemory({ routes })
      ? lostMemory(id)
      : `Target group ${context.plan.targetGroup.name} does not exist yet. Run prepare first.`,
  )
}

export const liveCurrent = ({ plan, outside }: EffectContext): Promise<Ingress | undefined> =>
  outside.current.ingress(plan.current.namespace, plan.current.ingress.name)

export const loadBalancerHostname = (ingress: Ingress | undefined): string | undefined =>
  (ingress?.status as { loadBalancer?: { ingress?: { hostname?: string }[] } } | undefined)?.loadBalancer?.ingress?.[0]
    ?.hostname
