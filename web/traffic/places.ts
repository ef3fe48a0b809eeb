import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'

export const trafficPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/traffic',
    component: lazyRouteComponent(() => import('./list.tsx'), 'TrafficList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/traffic/new',
    component: lazyRouteComponent(() => import('./new-switch.tsx'), 'NewSwitch'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/traffic/$id',
    component: lazyRouteComponent(() => import('./switch.tsx'), 'SwitchPage'),
  }),
] as const
