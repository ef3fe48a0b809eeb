import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { present, text, whole } from '../parts/address.ts'
import { root } from '../root.tsx'
import type { HealthFilter, RunFilter, RunView } from './address.ts'

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
