import type { ForwardAction } from '../action.ts'
import type { RuleWeights } from '../balancer.ts'
import { refuseErrors } from '../finding.ts'
import { lintHealth } from '../lint-live.ts'
import { arnOf, type Effect, type EffectContext } from './effect.ts'

export function targetGroup({ plan, outside, row }: EffectContext): Effect {
  let arn: string | undefined
  return {
    name: 'target-group',
    async missing() {
      arn = (await outside.balancer.targetGroup(plan.targetGroup.name))?.arn
      return arn === undefined ? `target group ${plan.targetGroup.name} does not exist` : undefined
    },
    async apply(dryRun) {
      // AWS has no dry run for it; the settings were checked by lint and preflight.
      if (!dryRun) arn = await outside.balancer.createTargetGroup(plan)
    },
    learned: () => ({ target_group_arn: arn ?? row().target_group_arn }),
  }
}

/** The live rules that name the target group, on whatever load balancer it hangs. */
async function liveRules(context: EffectContext): Promise<readonly RuleWeights[]> {
  const { balancer } = context.outside
  const group = await balancer.targetGroup(context.plan.targetGroup.name)
  const rules = await Promise.all((group?.loadBalancerArns ?? []).map((arn) => balancer.rulesNaming(arn, group!.arn)))
  return rules.flat()
}

function ruleProblem(rules: readonly RuleWeights[], wanted: ForwardAction): string | undefined {
  const [current, target] = wanted.forwardConfig.targetGroups.map(({ weight }) => weight)
  const sticky = wanted.forwardConfig.targetGroupStickinessConfig
  const wrong = rules.find(
    (rule) =>
      rule.target !== target ||
      rule.others.length !== 1 ||
      rule.others[0] !== current ||
      rule.isSticky !== sticky.enabled ||
      (sticky.enabled && rule.durationSeconds !== sticky.durationSeconds),
  )
  if (wrong === undefined) return undefined
  return `rule ${wrong.rule} has weights ${wrong.others.join('+')}/${wrong.target}${wrong.isSticky ? ', sticky' : ''}; wanted ${current}/${target}${sticky.enabled ? ', sticky' : ''}`
}

async function withWarning({ plan, outside }: EffectContext, problem: string): Promise<string> {
  const warning = await outside.current
    .warning(plan.current.namespace, plan.current.ingress.name)
    .catch(() => undefined)
  return warning === undefined ? problem : `${problem} (the controller says ${warning})`
}

export function rule(context: EffectContext, wanted: () => ForwardAction): Effect {
  return {
    name: 'rule-verified',
    async missing() {
      const rules = await liveRules(context)
      const problem =
        rules.length === 0 ? 'no rule of the load balancer names the target group yet' : ruleProblem(rules, wanted())
      return problem === undefined ? undefined : withWarning(context, problem)
    },
  }
}

/** No rule names the target group, or all of them send it nothing. */
export function releasedOr(context: EffectContext, allowed: (() => ForwardAction) | undefined): Effect {
  return {
    name: allowed === undefined ? 'rule-released' : 'rule-rolled-back',
    async missing() {
      const rules = await liveRules(context)
      if (rules.length === 0) return undefined
      const problem =
        allowed === undefined ? `rule ${rules[0]!.rule} still names the target group` : ruleProblem(rules, allowed())
      return problem === undefined ? undefined : withWarning(context, problem)
    },
  }
}

export function healthyTargets(context: EffectContext): Effect {
  const { plan, outside } = context
  return {
    name: 'targets-healthy',
    async missing() {
      const { healthy, total, reasons } = await outside.balancer.health(arnOf(context))
      return healthy >= plan.targetGroup.minHealthy
        ? undefined
        : `${healthy} of ${total} targets are healthy, ${plan.targetGroup.minHealthy} needed${reasons.length > 0 ? ` (${reasons.join(', ')})` : ''}`
    },
  }
}

export function healthBefore(context: EffectContext, step: number): Effect {
  const { plan, outside } = context
  return {
    name: 'health-before',
    async missing() {
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
  return {
    name: 'targets-deregistered',
    async missing() {
      const group = await outside.balancer.targetGroup(plan.targetGroup.name)
      const total = group === undefined ? 0 : (await outside.balancer.health(group.arn)).total
      return total === 0 ? undefined : `${total} targets are still registered`
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
