import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'

export const startPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/start',
    component: lazyRouteComponent(() => import('./start.tsx'), 'StartPage'),
  }),
] as const
