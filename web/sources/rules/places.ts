import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root } from '../../root.tsx'
import { known } from './address.ts'

export const rulePlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/sources/$plugin/$id/rules',
    component: lazyRouteComponent(() => import('./list.tsx'), 'RuleListPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sources/$plugin/$id/rules/$config',
    validateSearch: known,
    component: lazyRouteComponent(() => import('./page.tsx'), 'RulesPage'),
  }),
] as const
