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

/** The world outside: two clusters, one balancer, and the name servers. */
export interface Outside {
  readonly current: Cluster
  readonly target: Cluster
  readonly balancer: Balancer
  readonly metrics: Metrics
  readonly zones: Zones
  /** What time it is for AWS. */
  readonly clock: Readonly<AnswerClock>
  /** What any of the name servers says. */
  addressesOf(hostname: string): Promise<readonly string[]>
  /** Where the clusters are changed through a repository. */
  readonly git?: GitOps | undefined
  /** What each name server says by itself. */
  answersOf(hostname: string): Promise<readonly Answer[]>
}

export interface Answer {
  /** Its address; undefined for whatever this machine asks. */
  readonly server: string | undefined
  readonly addresses: readonly string[]
}

/** One thing that has to be so. It is observed first, so that doing it twice does it once. */
export interface Effect {
  readonly name: string
  /** Whose effect it is, where the plan lists its routes. */
  readonly route?: string | undefined
  /** Why it is not so yet; undefined when it is. Throws when it can never be. */
  missing(): Promise<string | undefined>
  /** Makes it so. Absent where we can only wait. */
  apply?(dryRun: boolean): Promise<void>
  /** Apply again while waiting: the other side may refuse for a while. */
  readonly isRepeated?: boolean
  /** Also when it was done before: what it looks at may have changed since. */
  readonly isAlways?: boolean
  /** Looked at once more when it was done before, and done again only if somebody has undone it since. */
  readonly isHeld?: boolean
  /** Not worth waiting for: somebody has to do it first. */
  readonly isInstant?: boolean
  /** What somebody may do who has waited in vain. */
  readonly wayOut?: string
  /** Waited for so much longer than other effects, as far as the last look can tell. */
  extraSeconds?(): number
  /** What came of it in words, where `done` says too little. */
  outcome?(): string | undefined
  /** What the switch remembers once it is so. */
  learned?(): SwitchChanges
}

export interface EffectContext {
  readonly plan: RoutePlan
  /** All routes of the switch; some of them may stand on the same Ingress. */
  readonly routes?: readonly RoutePlan[]
  readonly outside: Outside
  /** The switch as it is now; effects before this one may have changed it. */
  row(): SwitchRow
  /** The operator has seen the drift, or goes back whatever stands there: what is not ours is written over and recorded. */
  readonly overridesDrift: boolean
  /** Another process was at work on the switch when this one took it. */
  readonly tookOver?: boolean | undefined
  /** What was written over, until the journal has it. */
  readonly overridden: string[]
  progress?: ((text: string) => void) | undefined
  /** The engine's clock, for waiting times that outlast a process. */
  readonly now?: (() => Date) | undefined
}

/** Refuses, or where going on was decided, keeps for the journal what is about to be written over. */
export function meetDrift({ overridesDrift, overridden }: EffectContext, what: string): void {
  if (!overridesDrift)
    throw new TrafficError(
      'conflict',
      `Drift: ${what}\nNothing was overwritten. Put it back, repeat with ${skipping('acceptLive')} to start from the live value, or roll back.`,
    )
  if (!overridden.includes(what)) overridden.push(what)
}

/** Unique among the effects of an action: under it the journal keeps what came of the effect. */
export const effectKey = ({ name, route }: Pick<Effect, 'name' | 'route'>): string =>
  route === undefined ? name : `${name} (${route})`

/** Who reads a refusal must know which of the routes it is about. */
async function naming<T>(route: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof Error) error.message = `Route ${route}: ${error.message}`
    throw error
  }
}

/** The effect as one of several routes has it. */
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
