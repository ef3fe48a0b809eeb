import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { root, text } from '../root.tsx'

export interface KeySearch {
  readonly create?: true
}
export interface AlertSearch {
  readonly create?: true
  /** The alert that is open in the form. */
  readonly edit?: number
}
export interface AuditSearch {
  readonly action?: string
  readonly actorId?: string
  readonly subject?: string
  readonly subjectKey?: string
  readonly page?: number
  /** The entry that is open. */
  readonly entry?: number
}
export interface StorageSearch {
  readonly by?: 'scope'
}

/** A number above 0, or nothing. */
const number = (value: unknown) => (Number(value) > 0 ? Number(value) : undefined)
const filled = <Search extends object>(search: Search): Search =>
  Object.fromEntries(Object.entries(search).filter(([, value]) => value !== undefined)) as Search

export const settingsPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/settings',
    component: lazyRouteComponent(() => import('./general.tsx'), 'GeneralPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings/api-keys',
    validateSearch: (search): KeySearch => (search.create ? { create: true } : {}),
    component: lazyRouteComponent(() => import('./api-keys.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings/alerts',
    validateSearch: (search): AlertSearch => {
      const edit = number(search.edit)
      return search.create ? { create: true } : edit ? { edit } : {}
    },
    component: lazyRouteComponent(() => import('./alerts.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings/people',
    component: lazyRouteComponent(() => import('./people.tsx'), 'PeoplePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings/storage',
    validateSearch: (search): StorageSearch => (search.by === 'scope' ? { by: 'scope' } : {}),
    component: lazyRouteComponent(() => import('./storage.tsx'), 'StoragePage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings/configuration',
    component: lazyRouteComponent(() => import('./configuration.tsx'), 'ConfigurationPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/settings/audit',
    validateSearch: (search): AuditSearch =>
      filled({
        action: text(search.action),
        actorId: text(search.actorId),
        subject: text(search.subject),
        subjectKey: text(search.subjectKey),
        page: number(search.page),
        entry: number(search.entry),
      }) as AuditSearch,
    component: lazyRouteComponent(() => import('./audit.tsx'), 'AuditPage'),
  }),
] as const
