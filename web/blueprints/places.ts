import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root, text } from '../root.tsx'

const DRAWERS = ['plan', 'selector'] as const
export type OpenDrawer = (typeof DRAWERS)[number]
export interface Opened {
  /** The drawer with the plan, or the one for a new selector, is open. */
  readonly drawer?: OpenDrawer
}
export const opened = (search: Record<string, unknown>): Opened =>
  DRAWERS.includes(search.drawer as OpenDrawer) ? { drawer: search.drawer as OpenDrawer } : {}

export interface Beginning {
  /** Whose blueprint it will be. */
  readonly project?: string
}

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
