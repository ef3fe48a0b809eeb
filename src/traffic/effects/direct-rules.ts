/** Bypasses the controller: rules that do not follow are changed at the load balancer itself, and kept that way. */
import { counted } from '../../basics/counted.ts'
import { RetryableError, UserError } from '../../errors.ts'
import type { ForwardAction } from '../model/action.ts'
import { CredentialsRefused } from '../model/finding.ts'
import type { Forward, ForwardRule } from '../vendors/rules.ts'
import { type Effect, type EffectContext, ofRoute } from './effect.ts'
import { follows, rulePicture, weightsIn } from './rule-effects.ts'

/** Time that the controller may take. If it needs longer, it may be down. */
const GRACE_MS = 5_000

/** Corrects the rules of a route while its effects wait for the cluster and the controller. */
export interface DirectRules {
  /** Changes the rules that are not as wanted. */
  readonly effect: Effect
  /** The rules have to be put right even when everything else failed. */
  readonly isUrgent: boolean
  /** The reason why the controller is no longer waited for; undefined while it still is. */
  reason(): string | undefined
  /** Wraps an effect so that a refusal by the cluster is remembered here, and the effect is retried until its time is over. */
  patient(effect: Effect): Effect
}

/** The state that a rule is to have; undefined when it is right, or cannot be corrected here. */
type Correction = (rule: ForwardRule, arn: string | undefined) => Wanted | undefined
interface Wanted {
  readonly forward: Forward
  /** Used when AWS refuses `forward`. */
  readonly otherwise?: Forward
}

function directRules(context: EffectContext, correct: Correction, isUrgent: boolean): DirectRules {
  const { plan, outside } = context
  const graceMs = Math.min(GRACE_MS, plan.verifyTimeoutSeconds * 500)
  /** The moment from which the controller's time counts: at once, or after the first write, so that a refused step changes nothing. */
  let since = isUrgent ? Date.now() : undefined
  let refusal: string | undefined
  const reason = (): string | undefined => {
    if (since === undefined) return undefined
    if (outside.git !== undefined) return 'the cluster follows its repository, which takes longer'
    if (refusal !== undefined) return refusal
    return Date.now() < since + graceMs ? undefined : `they did not follow within ${graceMs / 1000} s`
  }
  const waitOut = <T>(work: () => Promise<T>): Promise<T> =>
    work().catch((error: unknown) => {
      if (!(error instanceof UserError)) throw error
      refusal ??= error.message
      throw new RetryableError(error.message, { cause: error })
    })
  return {
    effect: ofRoute(changedRules(context, correct, !isUrgent, reason), plan.route?.name),
    isUrgent,
    reason,
    patient(effect) {
      const { missing, apply } = effect
      // Changes through a repository tell by themselves what can be waited for.
      if (outside.git !== undefined) return effect
      const applyPatiently = (dryRun: boolean): Promise<void> => {
        since ??= Date.now()
        return waitOut(() => apply!(dryRun))
      }
      const lookForward = async (): Promise<string | undefined> => {
        const found = await missing()
        if (found === undefined) since ??= Date.now()
        return found
      }
      return {
        ...effect,
        missing: isUrgent ? () => waitOut(missing) : lookForward,
        ...(apply === undefined ? {} : { apply: applyPatiently }),
      }
    },
  }
}

function changedRules(
  context: EffectContext,
  correct: Correction,
  includesLeft: boolean,
  reason: DirectRules['reason'],
): Effect {
  const { balancer } = context.outside
  let wrong: readonly (readonly [ForwardRule, Wanted])[] = []
  const changed = new Set<string>()
  return {
    name: 'balancer-directly',
    isRepeated: true,
    async missing() {
      const { own, left, arn } = await rulePicture(context)
      wrong = [...own, ...(includesLeft ? left : [])].flatMap((rule) => {
        const wanted = correct(rule, arn)
        return wanted === undefined ? [] : [[rule, wanted] as const]
      })
      if (wrong.length === 0) return undefined
      return `${counted(wrong.length, 'rule')} of the load balancer ${wrong.length === 1 ? 'is' : 'are'} not as wanted`
    },
    async apply(dryRun) {
      if (dryRun) return
      let refusal: UserError | undefined
      for (const [rule, { forward, otherwise }] of wrong) {
        try {
          await balancer.forward(rule, forward).catch((error: unknown) => {
            if (otherwise === undefined || !(error instanceof UserError) || error instanceof CredentialsRefused)
              throw error
            return balancer.forward(rule, otherwise)
          })
          changed.add(rule.rule)
        } catch (error) {
          // A rule that AWS refuses must not keep the other rules from being changed.
          if (!(error instanceof UserError)) throw error
          refusal ??= error
        }
      }
      if (refusal === undefined) return
      throw new UserError(`The load balancer could not be changed directly: ${refusal.message}`, { cause: refusal })
    },
    outcome: () =>
      changed.size === 0
        ? undefined
        : `${counted(changed.size, 'rule')} changed at the load balancer itself, because ${reason() ?? 'the controller did not'}`,
  }
}

/**
 * Corrects rules on the way back, to the weights that the Ingress is to have. Where AWS refuses two groups in a rule that is
 * not sticky, the target group is left out.
 */
export function directlyBack(context: EffectContext): DirectRules {
  const correct: Correction = (rule, arn) => {
    if (weightsIn(rule, arn).target === 0 && !rule.isSticky) return undefined
    const others = rule.groups.filter((group) => group.arn !== arn)
    // A rule that names no other group cannot be corrected here; only its annotation can be.
    if (others.length === 0) return undefined
    const isOne = others.length === 1 || others.every(({ weight }) => weight === 0)
    const own = isOne ? others.map((group) => ({ ...group, weight: 100 })) : others
    const withGroups = (groups: ForwardRule['groups']): Forward => ({
      groups,
      isSticky: false,
      durationSeconds: undefined,
    })
    const target = rule.groups.filter((group) => group.arn === arn).map((group) => ({ ...group, weight: 0 }))
    return { forward: withGroups([...own, ...target]), otherwise: withGroups(own) }
  }
  return directRules(context, correct, true)
}

/** Corrects rules for a step, if the operator allowed it. */
export function directlyForward(context: EffectContext, wanted: () => ForwardAction): DirectRules {
  const correct: Correction = (rule, arn) => {
    const others = rule.groups.filter((group) => group.arn !== arn)
    if (arn === undefined || others.length !== 1 || follows(rule, arn, wanted())) return undefined
    const [current, target] = wanted().forwardConfig.targetGroups.map(({ weight }) => weight)
    const { enabled, durationSeconds } = wanted().forwardConfig.targetGroupStickinessConfig
    const groups = [
      { arn: others[0]!.arn, weight: current! },
      { arn, weight: target! },
    ]
    return { forward: { groups, isSticky: enabled, durationSeconds } }
  }
  return directRules(context, correct, false)
}
