import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'

export const runPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/runs',
    component: lazyRouteComponent(() => import('./list.tsx'), 'RunList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$id',
    component: lazyRouteComponent(() => import('./run.tsx'), 'RunPage'),
  }),
] as const
