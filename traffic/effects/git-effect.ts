import { hasLostMemory } from '../engine/route-memory.ts'
import { type Effect, type EffectContext, knownArn } from './effect.ts'
import { actionBack } from './rollback-effects.ts'

/** Rolls the repository back as well: a commit that no cluster has seen yet must not move traffic afterwards. */
export function gitBack(context: EffectContext): readonly Effect[] {
  const { plan, outside, row } = context
  const { git } = outside
  // Without a target group, no commit can have named it.
  if (git === undefined || (knownArn(context) === undefined && !hasLostMemory(row()))) return []
  const { namespace, ingress } = plan.current
  const subject = () => ({
    route: plan.route?.name,
    namespace,
    ingress: ingress.name,
    actionName: plan.actionName,
    wanted: actionBack(context),
  })
  // The process that had the switch until now may be about to push what it prepared before.
  let isFence = context.tookOver === true && plan.gitops?.merge === 'push'
  return [
    {
      name: 'git-rolled-back',
      missing: async () =>
        (await git.missingRollback(subject())) ??
        (isFence ? 'the process that had the switch may still push to the branch' : undefined),
      async apply(dryRun) {
        await git.rollBack(subject(), dryRun, isFence)
        isFence = false
      },
    },
  ]
}

/** Withdraws open proposals: one that was never merged must not take effect when the target group is gone. */
export function proposalsWithdrawn({ outside: { git }, row }: EffectContext): readonly Effect[] {
  // During clean-up, the open proposal is the removal itself.
  if (git === undefined || row().state === 'cleaning') return []
  let isTried = false
  return [
    {
      name: 'proposals-withdrawn',
      async missing() {
        const open = isTried ? [] : await git.openProposals()
        return open.length === 0 ? undefined : `${open.join(' and ')} still proposes a change`
      },
      async apply(dryRun) {
        if (dryRun) return
        await git.withdraw()
        isTried = true
      },
    },
  ]
}
