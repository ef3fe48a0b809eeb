import type { Finding } from './finding.ts'
import type { Plan, RoutePlan } from './plan.ts'

/** The door: behind it there are only lists of routes. */
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

/** A record of its own: many hosts under one star have none that could be asked for. */
const ownHost = (text: string | undefined): string | undefined => (text?.startsWith('*.') ? undefined : text)

/** Each host whose record moves, once. */
export const hostsOf = (plan: Plan): readonly string[] => [
  ...new Set(routesOf(plan).map(({ dns: { hostname } }) => hostname)),
]

/** Findings about a route, with their places in the whole plan. */
export const inRoute = ({ route }: RoutePlan, findings: readonly Finding[]): readonly Finding[] =>
  route === undefined ? findings : findings.map((item) => ({ ...item, path: `${route.path}.${item.path}` }))
