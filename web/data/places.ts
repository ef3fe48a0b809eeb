import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'

export const dataPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/data',
    component: lazyRouteComponent(() => import('./data.tsx'), 'DataPage'),
  }),
] as const
