import { stringify } from 'yaml'
import type { Outside } from '../effects/effect.ts'
import { bindingNamespace, type Plan } from '../model/plan.ts'

/** What the clusters have now of what a plan touches, as YAML. */
export async function liveManifests(plan: Plan, outside: Outside): Promise<Record<'current' | 'target', string>> {
  const [current, target, binding] = await Promise.all([
    outside.current.ingress(plan.current.namespace, plan.current.ingress.name),
    outside.target.ingress(plan.target.namespace, plan.target.ingress.name),
    outside.target.binding(bindingNamespace(plan), plan.binding.name),
  ])
  const text = (...objects: unknown[]) =>
    objects.flatMap((object) => (object === undefined ? [] : [stringify(object)])).join('---\n')
  return { current: text(current), target: text(target, binding) }
}
