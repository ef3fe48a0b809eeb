import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'
import { listing, view } from './address.ts'

export const projectPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/projects',
    validateSearch: listing,
    component: lazyRouteComponent(() => import('./list.tsx'), 'ProjectList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/projects/$name',
    validateSearch: view,
    component: lazyRouteComponent(() => import('./project.tsx'), 'ProjectPage'),
  }),
] as const
