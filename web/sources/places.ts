import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'

export const sourcePlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/sources',
    component: lazyRouteComponent(() => import('./list.tsx'), 'SourceList'),
  }),
] as const
