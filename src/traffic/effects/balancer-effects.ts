import { byName } from '../../basics/by-name.ts'
import { counted } from '../../basics/counted.ts'
import { lintHealth } from '../lint/live.ts'
import { refuseErrors, TrafficError } from '../model/finding.ts'
import { attributesToMirror, type Mirrored } from '../model/health-check.ts'
import type { RoutePlan } from '../model/plan.ts'
import { arnOf, type Effect, type EffectContext, liveCurrent, loadBalancerHostname } from './effect.ts'

/** The controller's own name for the target group of the current Service. */
const resourceOf = ({ current }: RoutePlan): string =>
  `${current.namespace}/${current.ingress.name}-${current.service.name}:${current.service.port}`

/** The live target group of the current Service; undefined if the controller's tags do not tell. */
export async function currentGroup(context: EffectContext): Promise<Mirrored | undefined> {
  const { balancer } = context.outside
  const hostname = loadBalancerHostname(await liveCurrent(context))
  const loadBalancer = hostname === undefined ? undefined : await balancer.loadBalancer(hostname)
  return loadBalancer === undefined ? undefined : balancer.groupOfResource(loadBalancer.arn, resourceOf(context.plan))
}

export function targetGroup(context: EffectContext): Effect {
  const { plan, outside, row } = context
  let arn: string | undefined
  let mirrored: Mirrored | undefined
  return {
    name: 'target-group',
    async missing() {
      arn = (await outside.balancer.targetGroup(plan.targetGroup.name))?.arn
      if (arn !== undefined) return undefined
      mirrored = await currentGroup(context)
      return `target group ${plan.targetGroup.name} does not exist`
    },
    async apply(dryRun) {
      // AWS has no dry run for this; the settings were checked by lint and preflight.
      if (!dryRun) arn = await outside.balancer.createTargetGroup(plan, mirrored)
    },
    learned: () => ({ target_group_arn: arn ?? row().target_group_arn }),
  }
}

/** Mirrors the attributes of the current target group, so that targets come and go alike in both. */
export function targetGroupAttributes(context: EffectContext): Effect {
  const { balancer } = context.outside
  let wrong: Readonly<Record<string, string>> = byName({})
  return {
    name: 'target-group-attributes',
    async missing() {
      const mirrored = await currentGroup(context)
      if (mirrored === undefined) return undefined
      const live = await balancer.attributes(arnOf(context))
      const wanted = Object.entries(attributesToMirror(mirrored))
      wrong = Object.fromEntries(wanted.filter(([key, value]) => live[key] !== value))
      const list = Object.entries(wrong).map(
        ([key, value]) => `${key} is ${live[key] ?? 'not set'} instead of ${value}`,
      )
      return list.length === 0 ? undefined : list.join(', ')
    },
    async apply(dryRun) {
      if (!dryRun) await balancer.setAttributes(arnOf(context), wrong)
    },
  }
}

/** Traffic goes to a target group in which several checks in a row found no healthy target. */
export class NothingHealthy extends TrafficError {}
/** Number of checks in a row that must find no healthy target before anything is done about it. */
export const FAILURE_LIMIT = 3

/** Under load, a group without any healthy target is not waited for until the time is over. */
export function healthyTargets(context: EffectContext, isUnderLoad = false): Effect {
  const { plan, outside } = context
  let failures = 0
  return {
    name: 'targets-healthy',
    async missing() {
      const { healthy, total, reasons } = await outside.balancer.health(arnOf(context))
      failures = healthy === 0 ? failures + 1 : 0
      if (isUnderLoad && failures >= FAILURE_LIMIT)
        throw new NothingHealthy('gate', `none of ${total} targets is healthy${because(reasons)}`)
      return healthy >= plan.targetGroup.minHealthy
        ? undefined
        : `${healthy} of ${total} targets are healthy, ${plan.targetGroup.minHealthy} needed${because(reasons)}`
    },
  }
}

const because = (reasons: readonly string[]): string => (reasons.length > 0 ? ` (${reasons.join(', ')})` : '')

/** Checks the Ingress first, because a group that drift has cut off has no healthy target. */
export function healthBefore(context: EffectContext, step: number, weights: Effect): Effect {
  const { plan, outside } = context
  return {
    name: 'health-before',
    async missing() {
      await weights.missing()
      const { healthy } = await outside.balancer.health(arnOf(context))
      refuseErrors(
        `Step ${step}`,
        lintHealth(plan.steps[step]!.weights, healthy, plan.targetGroup.minHealthy, `steps[${step}].weights.target`),
      )
      return undefined
    },
  }
}

export function targetsGone({ plan, outside }: EffectContext): Effect {
  let delaySeconds = 0
  return {
    name: 'targets-deregistered',
    extraSeconds: () => delaySeconds,
    async missing() {
      const group = await outside.balancer.targetGroup(plan.targetGroup.name)
      if (group === undefined) return undefined
      const { total, draining } = await outside.balancer.health(group.arn)
      if (total + draining === 0) return undefined
      if (draining > 0) {
        const delay = (await outside.balancer.attributes(group.arn))['deregistration_delay.timeout_seconds']
        delaySeconds = Number(delay ?? 0)
      }
      return `${counted(total + draining, 'target')} still registered${draining > 0 ? `, ${draining} of them draining` : ''}`
    },
  }
}

export function targetGroupGone({ plan, outside }: EffectContext): Effect {
  let arn: string | undefined
  return {
    name: 'target-group-deleted',
    isRepeated: true,
    async missing() {
      arn = (await outside.balancer.targetGroup(plan.targetGroup.name))?.arn
      return arn === undefined ? undefined : `target group ${plan.targetGroup.name} still exists`
    },
    async apply(dryRun) {
      if (!dryRun) await outside.balancer.deleteTargetGroup(arn!)
    },
    learned: () => ({ target_group_arn: null }),
  }
}
