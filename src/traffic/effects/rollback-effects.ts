import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf, UserError } from '../../errors.ts'
import { aloneAction, type ForwardAction, rollbackAction } from '../model/action.ts'
import { type Effect, type EffectContext, knownArn, liveCurrent } from './effect.ts'
import { rollbackWeights } from './ingress-effects.ts'
import { rulePicture, weightsIn, withWarning } from './rule-effects.ts'

/** Who wants to go back does not wait longer than this for a cluster that may not answer at all. */
const CLUSTER_PATIENCE_MS = 3_000

/** Why the current cluster cannot be asked, or told at once; undefined when it can. */
async function silenceOf(context: EffectContext): Promise<string | undefined> {
  if (context.outside.git !== undefined) return 'the cluster follows its repository, which takes longer'
  const timer = new AbortController()
  try {
    const late = sleep(CLUSTER_PATIENCE_MS, 'it does not answer', { signal: timer.signal }).catch(() => undefined)
    return await Promise.race([late, liveCurrent(context).then(() => undefined)])
  } catch (error) {
    return messageOf(error)
  } finally {
    timer.abort()
  }
}

/** When the cluster cannot be told, the load balancer is: its rules leave the target group out until the controller is back. */
export function balancerBack(context: EffectContext): Effect {
  const { balancer } = context.outside
  let wrong: Awaited<ReturnType<typeof rulePicture>>['own'] = []
  let arn: string | undefined
  let refusal: string | undefined
  return {
    name: 'balancer-directly',
    isRepeated: true,
    async missing() {
      if (context.plan.mode === 'observe' || refusal !== undefined) return undefined
      const silence = await silenceOf(context)
      if (silence === undefined) return undefined
      const picture = await rulePicture(context)
      arn = picture.arn
      wrong = picture.own.filter((each) => weightsIn(each, arn).target > 0 || each.isSticky)
      return wrong.length === 0 ? undefined : `${wrong.length} rules still send traffic to the target (${silence})`
    },
    async apply(dryRun) {
      if (dryRun) return
      for (const rule of wrong) {
        const others = rule.groups.filter((group) => group.arn !== arn)
        // A rule that knows no other group cannot be helped here; its annotation has to.
        if (others.length === 0) continue
        const isEmpty = others.every(({ weight }) => weight === 0)
        try {
          await balancer.forward(rule, isEmpty ? others.map((group) => ({ ...group, weight: 100 })) : others)
        } catch (error) {
          // Who may not change rules still may change the Ingress when the cluster is back.
          if (!(error instanceof UserError)) throw error
          refusal = error.message
          context.overridden.push(`The load balancer could not be changed directly: ${refusal}`)
        }
      }
    },
  }
}

/** Weight 0 for the target; where nobody knows its group any more, the current group alone. */
export function actionBack(context: EffectContext): ForwardAction {
  const arn = knownArn(context)
  return arn === undefined ? aloneAction(context.plan) : rollbackAction(context.plan, arn)
}

/** Weight 0 for the target; where AWS refuses two groups in one rule, the current group alone. */
export function weightsBack(context: EffectContext): readonly Effect[] {
  let isAlone = false
  const wanted = (): ForwardAction => (isAlone ? aloneAction(context.plan) : actionBack(context))
  const write = rollbackWeights(context, wanted)
  return [write, rolledBack(context, write, () => (isAlone = true))]
}

/** No rule sends the target group anything; what somebody else writes meanwhile is taken back again. */
function rolledBack(context: EffectContext, write: Effect, leaveTargetOut: () => void): Effect {
  const { balancer } = context.outside
  let isWritten = true
  return {
    name: 'rule-rolled-back',
    isRepeated: true,
    async missing() {
      // The annotation last: rules that are right say nothing while somebody has just written it anew.
      const { own, arn } = await rulePicture(context)
      const unwritten = await write.missing()
      isWritten = unwritten === undefined
      if (unwritten !== undefined) return unwritten
      const wrong = own.filter((each) => weightsIn(each, arn).target > 0 || each.isSticky)
      if (wrong.length === 0) return undefined
      // Stickiness of a target group that was enabled meanwhile: AWS then takes no rule with two groups that is not sticky.
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
