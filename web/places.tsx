/** Every view has an address that can be sent to a colleague. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent, redirect } from '@tanstack/react-router'
import { Frame, Lost } from './frame/frame.tsx'

const root = createRootRoute({ component: Frame, notFoundComponent: Lost })

export interface Range {
  /** Months back from now. */
  readonly months?: number
  /** The metric whose explanation is open. */
  readonly explain?: string
  readonly reason?: string
}

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined)
const known = (search: Record<string, unknown>): Range => ({
  ...([1, 3, 6, 12].includes(Number(search.months)) && { months: Number(search.months) }),
  ...(text(search.explain) && { explain: text(search.explain) as string }),
  ...(text(search.reason) && { reason: text(search.reason) as string }),
})

const places = [
  createRoute({
    getParentRoute: () => root,
    path: '/',
    beforeLoad: () => {
      throw redirect({ to: '/projects' })
    },
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/projects',
    component: lazyRouteComponent(() => import('./projects/list.tsx'), 'ProjectList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/projects/$name',
    validateSearch: known,
    component: lazyRouteComponent(() => import('./projects/project.tsx'), 'ProjectPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs',
    component: lazyRouteComponent(() => import('./runs/list.tsx'), 'RunList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$id',
    component: lazyRouteComponent(() => import('./runs/run.tsx'), 'RunPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/sources',
    component: lazyRouteComponent(() => import('./sources/list.tsx'), 'SourceList'),
  }),
]

export const router = createRouter({ routeTree: root.addChildren(places), defaultPreload: 'intent' })

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
