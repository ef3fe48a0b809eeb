import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root, text } from '../root.tsx'

export interface Opened {
  /** The drawer with the plan is open. */
  readonly plan?: true
}
const opened = (search: Record<string, unknown>): Opened => ({ ...(Boolean(search.plan) && { plan: true as const }) })

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
