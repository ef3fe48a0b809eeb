import { actionOfStep } from '../model/action.ts'
import {
  healthBefore,
  healthyTargets,
  targetGroup,
  targetGroupAttributes,
  targetGroupGone,
  targetsGone,
} from './balancer-effects.ts'
import { binding, bindingGone } from './binding-effects.ts'
import { dns, leadsTo } from './dns-effect.ts'
import { arnOf, type Effect, type EffectContext } from './effect.ts'
import { fieldsReleased } from './field-owners.ts'
import { gitBack } from './git-effect.ts'
import { attach, createdIngressGone, detach, restoredIngress, targetIngress, weights } from './ingress-effects.ts'
import { guards, preflight } from './preflight-effect.ts'
import { balancerBack, weightsBack } from './rollback-effects.ts'
import { released, rule } from './rule-effects.ts'

export const prepareEffects = (context: EffectContext): readonly Effect[] => [
  preflight(context),
  targetIngress(context),
  targetGroup(context),
  targetGroupAttributes(context),
  binding(context),
  attach(context),
  rule(context, () => actionOfStep(context.plan, 0, arnOf(context))),
  healthyTargets(context),
]

export function stepEffects(context: EffectContext, step: number): readonly Effect[] {
  const change = weights(context, step)
  const movesTraffic = context.plan.steps[step]!.weights.target > 0
  return [
    guards(context),
    ...(movesTraffic ? [healthBefore(context, step, change)] : []),
    change,
    rule(context, () => actionOfStep(context.plan, step, arnOf(context))),
    ...(movesTraffic ? [healthyTargets(context)] : []),
  ]
}

/** What counts comes first: weights, then their proof, and only then where the host name leads. */
export const rollbackEffects = (context: EffectContext, isDnsChecked: boolean): readonly Effect[] => [
  balancerBack(context),
  restoredIngress(context),
  ...gitBack(context),
  ...weightsBack(context),
  ...(isDnsChecked ? [dns(context, 'current')] : []),
]

/** The one safe order: no rule, then no binding, then no target group. */
export const cleanupEffects = (context: EffectContext, keepsIngress: boolean): readonly Effect[] => [
  detach(context, keepsIngress),
  ...(keepsIngress ? [fieldsReleased(context)] : []),
  released(context),
  bindingGone(context),
  targetsGone(context),
  targetGroupGone(context),
]

/** The same for a switch that is given up, with the target Ingress that was made for it. */
export const abortEffects = (context: EffectContext): readonly Effect[] => [
  ...cleanupEffects(context, true),
  createdIngressGone(context, () => leadsTo(context, 'target')),
]
