import { aloneAction, type ForwardAction, rollbackAction } from '../model/action.ts'
import { type Effect, type EffectContext, knownArn } from './effect.ts'
import { rollbackWeights } from './ingress-effects.ts'
import { rulePicture, weightsIn, withWarning } from './rule-effects.ts'

/** Weight 0 for the target. If its group is no longer known, the current group alone. */
export function actionBack(context: EffectContext): ForwardAction {
  const arn = knownArn(context)
  return arn === undefined ? aloneAction(context.plan) : rollbackAction(context.plan, arn)
}

/** Writes weight 0 for the target. Where AWS refuses two groups in one rule, it writes the current group alone. */
export function weightsBack(context: EffectContext): readonly Effect[] {
  let isAlone = false
  const wanted = (): ForwardAction => (isAlone ? aloneAction(context.plan) : actionBack(context))
  const write = rollbackWeights(context, wanted)
  return [write, rolledBack(context, write, () => (isAlone = true))]
}

/** Waits until no rule sends anything to the target group. What somebody else writes meanwhile is taken back again. */
function rolledBack(context: EffectContext, write: Effect, leaveTargetOut: () => void): Effect {
  const { balancer } = context.outside
  let isWritten = true
  return {
    name: 'rule-rolled-back',
    isRepeated: true,
    isHeld: true,
    async missing() {
      // The annotation is looked at last: rules that are right prove nothing when somebody has just rewritten the annotation.
      const { own, arn } = await rulePicture(context)
      const unwritten = await write.missing()
      isWritten = unwritten === undefined
      if (unwritten !== undefined) return unwritten
      const wrong = own.filter((each) => weightsIn(each, arn).target > 0 || each.isSticky)
      if (wrong.length === 0) return undefined
      // Somebody may have enabled stickiness of a target group meanwhile. AWS then refuses a rule with two groups that is not sticky.
      for (const group of wrong[0]!.groups)
        if ((await balancer.attributes(group.arn))['stickiness.enabled'] === 'true') leaveTargetOut()
      const { target, others } = weightsIn(wrong[0]!, arn)
      const problem = `${own.length - wrong.length} of ${own.length} rules are back; rule ${wrong[0]!.rule} has weights ${others.join('+')}/${target}${wrong[0]!.isSticky ? ', sticky' : ''}; wanted 100/0`
      return withWarning(context, problem)
    },
    async apply(dryRun) {
      if (!isWritten) await write.apply!(dryRun)
    },
    learned: () => write.learned!(),
  }
}
