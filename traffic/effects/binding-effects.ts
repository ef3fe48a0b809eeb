import { bindingOfPlan } from '../model/ingress.ts'
import { bindingNamespace } from '../model/plan.ts'
import { diffObjects } from '../render/diff.ts'
import { arnOf, type Effect, type EffectContext } from './effect.ts'

export function binding(context: EffectContext): Effect {
  const { plan, outside } = context
  return {
    name: 'binding',
    async missing() {
      const live = await outside.target.binding(bindingNamespace(plan), plan.binding.name)
      if (live === undefined) return `there is no TargetGroupBinding ${plan.binding.name}`
      // Compared as it is sent: without properties that have no value.
      const wanted = JSON.parse(JSON.stringify(bindingOfPlan(plan, arnOf(context))))
      const differences = diffObjects([live], [wanted]).filter(({ path }) => path.startsWith('spec'))
      if (differences.length > 0)
        return `TargetGroupBinding ${plan.binding.name} differs in ${differences.map(({ path }) => path).join(', ')}`
      const observed = (live.status as { observedGeneration?: number } | undefined)?.observedGeneration
      return observed === live.metadata.generation
        ? undefined
        : 'the controller of the target cluster has not seen the binding yet'
    },
    apply: (dryRun) => outside.target.apply(bindingOfPlan(plan, arnOf(context)), dryRun),
  }
}

export function bindingGone({ plan, outside }: EffectContext): Effect {
  return {
    name: 'binding-deleted',
    missing: async () =>
      (await outside.target.binding(bindingNamespace(plan), plan.binding.name)) === undefined
        ? undefined
        : `TargetGroupBinding ${plan.binding.name} still exists`,
    apply: async (dryRun) => {
      if (!dryRun) await outside.target.deleteBinding(bindingNamespace(plan), plan.binding.name)
    },
  }
}
