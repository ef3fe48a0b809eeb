import { rowOfRoute } from '../engine/route-memory.ts'
import type { SwitchRow } from '../engine/store.ts'
import type { Plan } from '../model/plan.ts'
import { routesOf } from '../model/routes.ts'
import type { EffectContext, Outside } from './effect.ts'

/** Makes one context per route, in the order of the plan. All routes share the list of what was overwritten. */
export function contextsOf(
  plan: Plan,
  outside: Outside,
  row: () => SwitchRow,
  options: Pick<EffectContext, 'overridesDrift' | 'progress' | 'now' | 'tookOver'>,
): readonly EffectContext[] {
  const routes = routesOf(plan)
  const shared = { ...options, outside, routes, overridden: [] }
  return routes.map((own) => ({ ...shared, plan: own, row: () => rowOfRoute(row(), own.route?.name) }))
}

/** The first route of each host, because the record of a host is checked only once. */
export const oneForEachHost = (contexts: readonly EffectContext[]): readonly EffectContext[] =>
  contexts.filter(
    ({ plan: { dns } }, index) => contexts.findIndex(({ plan }) => plan.dns.hostname === dns.hostname) === index,
  )
