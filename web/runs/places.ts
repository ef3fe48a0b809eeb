import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { present, whole } from '../parts/address.ts'
import { root, text } from '../root.tsx'

export interface RunFilter {
  /** A word of RUN_STATES. */
  readonly state?: string
  readonly project?: string
  readonly words?: string
  readonly page?: number
}
export interface RunView {
  /** Place in the plan, such as 2.1: it stays when a task is run again. */
  readonly task?: string
  /** What the log is searched for. */
  readonly find?: string
}
export interface HealthFilter {
  readonly show?: 'gaps' | 'receipts' | 'aside'
  readonly project?: string
  readonly plugin?: string
  readonly connectionId?: number
  readonly scopeId?: string
  readonly page?: number
}

export const runPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/runs',
    validateSearch: ({ state, project, words, page }): RunFilter =>
      present({ state: text(state), project: text(project), words: text(words), page: whole(page) }),
    component: lazyRouteComponent(() => import('./list.tsx'), 'RunList'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/health',
    validateSearch: ({ show, project, plugin, connectionId, scopeId, page }): HealthFilter =>
      present({
        show: show === 'receipts' || show === 'aside' ? show : undefined,
        project: text(project),
        plugin: text(plugin),
        connectionId: whole(connectionId),
        scopeId: text(scopeId),
        page: whole(page),
      }),
    component: lazyRouteComponent(() => import('./health.tsx'), 'HealthPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/runs/$id',
    validateSearch: ({ task, find }): RunView => present({ task: text(task), find: text(find) }),
    component: lazyRouteComponent(() => import('./run.tsx'), 'RunPage'),
  }),
] as const
