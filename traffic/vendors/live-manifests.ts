import { stringify } from 'yaml'
import type { Outside } from '../effects/effect.ts'
import { bindingNamespace, type Plan, type SideName } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'

/** The live objects that a plan touches, as YAML. */
export async function liveManifests(plan: Plan, outside: Outside): Promise<Record<SideName, string>> {
  const routes = routesOf(plan)
  /** Routes may share an Ingress, which is read once. */
  const ingressesOf = (side: SideName) => {
    const places = new Map(
      routes.map((own) => [`${own[side].namespace}/${own[side].ingress.name}`, own[side]] as const),
    )
    return Promise.all(
      [...places.values()].map(({ namespace, ingress }) => outside[side].ingress(namespace, ingress.name)),
    )
  }
  const [current, target, bindings] = await Promise.all([
    ingressesOf('current'),
    ingressesOf('target'),
    Promise.all(routes.map((own) => outside.target.binding(bindingNamespace(own), own.binding.name))),
  ])
  const text = (objects: readonly unknown[]) =>
    objects.flatMap((object) => (object === undefined ? [] : [stringify(object)])).join('---\n')
  return { current: text(current), target: text([...target, ...bindings]) }
}
