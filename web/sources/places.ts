import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root, text } from '../root.tsx'

export interface ConnectionListView {
  /** Words that a connection must have. */
  readonly find?: string
}

export interface ConnectionView {
  readonly find?: string
  /** The drawer with the settings is open. */
  readonly edit?: true
  /** The drawer with what could be collected is open. */
  readonly add?: true
}

const found = (search: Record<string, unknown>) => (text(search.find) ? { find: text(search.find) as string } : {})

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
