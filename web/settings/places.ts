import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { text } from '../parts/address.ts'
import { root } from '../root.tsx'
import {
  type AlertSearch,
  type AuditSearch,
  filled,
  type GroupSearch,
  type KeySearch,
  number,
  type StorageSearch,
} from './address.ts'

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
    path: '/settings/groups',
    validateSearch: (search): GroupSearch => {
      const group = text(search.group)
      return search.create ? { create: true } : group ? { group } : {}
    },
    component: lazyRouteComponent(() => import('./groups.tsx'), 'GroupsPage'),
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
    path: '/settings/queue',
    component: lazyRouteComponent(() => import('./queue.tsx'), 'QueuePage'),
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
