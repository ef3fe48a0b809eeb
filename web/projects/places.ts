import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root, text } from '../root.tsx'

export interface Range {
  /** Months back from now. */
  readonly months?: number
  /** The metric whose explanation is open. */
  readonly explain?: string
  readonly reason?: string
}

const known = (search: Record<string, unknown>): Range => ({
  ...([1, 3, 6, 12].includes(Number(search.months)) && { months: Number(search.months) }),
  ...(text(search.explain) && { explain: text(search.explain) as string }),
  ...(text(search.reason) && { reason: text(search.reason) as string }),
})

export const projectPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/projects',
    component: lazyRouteComponent(() => import('./list.tsx'), 'ProjectList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/projects/$name',
    validateSearch: known,
    component: lazyRouteComponent(() => import('./project.tsx'), 'ProjectPage'),
  }),
] as const
