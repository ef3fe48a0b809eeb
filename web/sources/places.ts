import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../root.tsx'
import { type ConnectionListView, type ConnectionView, found } from './address.ts'

export const sourcePlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/sources',
    validateSearch: (search: Record<string, unknown>): ConnectionListView => found(search),
    component: lazyRouteComponent(() => import('./list.tsx'), 'SourceList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sources/$plugin/new',
    component: lazyRouteComponent(() => import('./new.tsx'), 'NewConnection'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sources/$plugin/$id',
    validateSearch: (search: Record<string, unknown>): ConnectionView => ({
      ...found(search),
      ...(Boolean(search.edit) && { edit: true as const }),
      ...(Boolean(search.add) && { add: true as const }),
    }),
    component: lazyRouteComponent(() => import('./connection.tsx'), 'ConnectionPage'),
  }),
] as const
