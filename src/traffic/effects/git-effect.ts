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
