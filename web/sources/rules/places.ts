import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root, text } from '../../root.tsx'

export interface RuleView {
  /** The drawer with the scopes that use the rules is open. */
  readonly scopes?: true
  /** The project that the effect is shown for. */
  readonly project?: string
}

const known = (search: Record<string, unknown>): RuleView => ({
  ...(Boolean(search.scopes) && { scopes: true as const }),
  ...(text(search.project) && { project: text(search.project) as string }),
})

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
