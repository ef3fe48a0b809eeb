import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'

export const trafficPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/traffic',
    component: lazyRouteComponent(() => import('./traffic.tsx'), 'TrafficPage'),
  }),
] as const
