import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'
import { known } from './address.ts'

export const startPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/start',
    validateSearch: known,
    component: lazyRouteComponent(() => import('./start.tsx'), 'StartPage'),
  }),
] as const
