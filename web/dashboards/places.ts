import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'
import { type ListSearch, view } from './address.ts'

export const dashboardPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/dashboards',
    validateSearch: (search: Record<string, unknown>): ListSearch => (search.new ? { new: true } : {}),
    component: lazyRouteComponent(() => import('./list.tsx'), 'DashboardList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/dashboards/$dashboard',
    validateSearch: view,
    component: lazyRouteComponent(() => import('./dashboard.tsx'), 'DashboardPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/shared/$token',
    component: lazyRouteComponent(() => import('./shared.tsx'), 'SharedPage'),
  }),
] as const
