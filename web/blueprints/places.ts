import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { text } from '../parts/address.ts'
import { root } from '../root.tsx'
import { type Beginning, opened } from './address.ts'

export const blueprintPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/blueprints',
    component: lazyRouteComponent(() => import('./list.tsx'), 'BlueprintList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/blueprints/new',
    validateSearch: (search: Record<string, unknown>): Beginning => ({
      ...(text(search.project) && { project: text(search.project) as string }),
    }),
    component: lazyRouteComponent(() => import('./new.tsx'), 'NewBlueprint'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/blueprints/$id',
    validateSearch: opened,
    component: lazyRouteComponent(() => import('./page.tsx'), 'BlueprintPage'),
  }),
] as const
