import type { Finding } from './finding.ts'
import type { Plan, RoutePlan } from './plan.ts'

/** Turns either form of a plan into a list of routes. All other code deals with lists only. */
export function routesOf(plan: Plan): readonly RoutePlan[] {
  if (!('routes' in plan)) return [plan]
  const { routes, ...common } = plan
  return routes.map(({ name, hostname, current, target, ...own }, index) => ({
    ...common,
    ...own,
    current: { ...common.current, ...current, namespace: current.namespace ?? common.current.namespace },
    target: { ...common.target, ...target, namespace: target.namespace ?? common.target.namespace },
    dns: { ...common.dns, hostname: hostname ?? ownHost(current.ingress.host) ?? common.dns.hostname ?? '' },
    route: { name, path: `routes[${index}]` },
  }))
}

/** A host with its own record: many hosts under one wildcard have none that could be asked for. */
const ownHost = (text: string | undefined): string | undefined => (text?.startsWith('*.') ? undefined : text)

/** Every host whose record moves, listed once. */
export const hostsOf = (plan: Plan): readonly string[] => [
  ...new Set(routesOf(plan).map(({ dns: { hostname } }) => hostname)),
]

/** Findings about a route, with their places in the whole plan. */
export const inRoute = ({ route }: RoutePlan, findings: readonly Finding[]): readonly Finding[] =>
  route === undefined ? findings : findings.map((item) => ({ ...item, path: `${route.path}.${item.path}` }))
