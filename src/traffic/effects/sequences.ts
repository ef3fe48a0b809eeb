import { actionOfStep, rollbackAction } from '../action.ts'
import {
  healthBefore,
  healthyTargets,
  releasedOr,
  rule,
  targetGroup,
  targetGroupGone,
  targetsGone,
} from './balancer-effects.ts'
import { binding, bindingGone } from './binding-effects.ts'
import { dns } from './dns-effect.ts'
import { arnOf, type Effect, type EffectContext } from './effect.ts'
import { action, attach, detach, restoredIngress, targetIngress } from './ingress-effects.ts'
import { preflight } from './preflight-effect.ts'

export const prepareEffects = (context: EffectContext): readonly Effect[] => [
  preflight(context),
  targetIngress(context),
  targetGroup(context),
  binding(context),
  attach(context),
  rule(context, () => actionOfStep(context.plan, 0, arnOf(context))),
  healthyTargets(context),
]

export const stepEffects = (context: EffectContext, step: number): readonly Effect[] => [
  ...(context.plan.steps[step]!.weights.target > 0 ? [healthBefore(context, step)] : []),
  action(context, 'weights', () => actionOfStep(context.plan, step, arnOf(context))),
  rule(context, () => actionOfStep(context.plan, step, arnOf(context))),
  ...(context.plan.steps[step]!.weights.target > 0 ? [healthyTargets(context)] : []),
]

export const rollbackEffects = (context: EffectContext, isDnsChecked: boolean): readonly Effect[] => [
  ...(isDnsChecked ? [dns(context, 'current')] : []),
  restoredIngress(context),
  action(context, 'rollback-weights', () => rollbackAction(context.plan, arnOf(context)), true),
  releasedOr(context, () => rollbackAction(context.plan, arnOf(context))),
]

/** The one safe order: no rule, then no binding, then no target group. */
export const cleanupEffects = (context: EffectContext, keepsIngress: boolean): readonly Effect[] => [
  detach(context, keepsIngress),
  releasedOr(context, undefined),
  bindingGone(context),
  targetsGone(context),
  targetGroupGone(context),
]
