import type { Plan, RoutePlan } from '../../../traffic/model/plan.ts'

/** The places of routes. They include every relation that two routes can have. */
const PLACES = {
  web: { ingress: 'web', group: 'shop', host: 'shop.example.com', path: '/' },
  /** Another Service of the same Ingress. */
  cart: { ingress: 'web', group: 'shop', host: 'shop.example.com', path: '/cart' },
  /** Another Ingress of the same group, and so of the same load balancer. */
  media: { ingress: 'media', group: 'shop', host: 'shop.example.com', path: '/media' },
  /** Another load balancer and another host. */
  admin: { ingress: 'admin', group: 'admin', host: 'admin.example.com', path: '/' },
} as const
export type RouteName = keyof typeof PLACES
export const ROUTE_NAMES = Object.keys(PLACES) as RouteName[]

/** Returns the plan of the shop with several routes instead of one. */
export function withRoutes(plan: RoutePlan, names: readonly RouteName[]): Plan {
  const { current, target, actionName: _action, targetGroup, binding, route: _route, dns, ...rest } = plan
  const sideOf = (side: 'current' | 'target', name: RouteName) => {
    const { ingress, group, host, path } = PLACES[name]
    return {
      service: { name, port: plan[side].service.port },
      ingress: { ...plan[side].ingress, name: ingress, groupName: `${group}-${side}`, host, path },
    }
  }
  const common = ({ service: _service, ingress: _ingress, ...side }: RoutePlan['current']) => side
  const { hostname: _hostname, ...dnsRest } = dns
  return structuredClone({
    ...rest,
    dns: dnsRest,
    current: common(current),
    target: common(target),
    routes: names.map((name) => ({
      name,
      current: sideOf('current', name),
      target: sideOf('target', name),
      actionName: `${name}-switch`,
      targetGroup: { ...targetGroup, name: `shop-${name}-target` },
      binding: { ...binding, name: `${name}-switch`, serviceRef: { name, port: 80 } },
    })),
  })
}
