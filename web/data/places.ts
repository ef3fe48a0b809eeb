import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { present, text, whole } from '../parts/address.ts'
import { root } from '../root.tsx'
import { type FieldDraft, placeIn, type RowView, type TablesView } from './address.ts'

export const dataPlaces = [
  createRoute({
    getParentRoute: () => root,
    path: '/data',
    validateSearch: (search): TablesView =>
      present({
        ...placeIn(search),
        table: text(search.table),
        words: text(search.words),
        page: whole(search.page),
        record: text(search.record),
      }),
    component: lazyRouteComponent(() => import('./data.tsx'), 'DataPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/data/record',
    validateSearch: (search): RowView => present({ table: text(search.table), id: text(search.id) }),
    component: lazyRouteComponent(() => import('./row.tsx'), 'RowPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/data/fields',
    component: lazyRouteComponent(() => import('./fields.tsx'), 'FieldsPage'),
  }),
  createRoute({
    getParentRoute: () => root,
    path: '/data/fields/map',
    validateSearch: (search): FieldDraft =>
      present({
        ...placeIn(search),
        table: text(search.table),
        rawTable: text(search.rawTable),
        path: text(search.path),
        field: text(search.field),
        name: text(search.name),
      }),
    component: lazyRouteComponent(() => import('./map-field.tsx'), 'MapFieldPage'),
  }),
] as const
