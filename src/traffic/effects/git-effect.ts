import { hasLostMemory } from '../engine/route-memory.ts'
import { type Effect, type EffectContext, knownArn } from './effect.ts'
import { actionBack } from './rollback-effects.ts'

/** The repository goes back, too: a commit that no cluster has seen yet must not move traffic afterwards. */
export function gitBack(context: EffectContext): readonly Effect[] {
  const { plan, outside, row } = context
  const { git } = outside
  // Without a target group nobody can have been told of it.
  if (git === undefined || (knownArn(context) === undefined && !hasLostMemory(row()))) return []
  const { namespace, ingress } = plan.current
  const subject = () => ({
    ...{ route: plan.route?.name, namespace, ingress: ingress.name, actionName: plan.actionName },
    wanted: actionBack(context),
  })
  // Whoever had the switch until now may be about to push what he had looked at before.
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

/** What was proposed and never merged must not come back when the target group is gone. */
export function proposalsWithdrawn({ outside: { git }, row }: EffectContext): readonly Effect[] {
  // While things are taken away, what is proposed is that.
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
