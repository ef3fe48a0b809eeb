import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { present, whole } from '../parts/address.ts'
import { root, text } from '../root.tsx'

/** A scope of a source, or a connection without scopes. */
export interface ScopePlace {
  readonly plugin?: string
  readonly connectionId?: number
  readonly scopeId?: string
}
export interface TablesView extends ScopePlace {
  readonly table?: string
  readonly words?: string
  readonly page?: number
  /** The raw record that is followed: its table and number, such as _raw_jira_api_issues:12. */
  readonly record?: string
}
export interface FieldDraft extends ScopePlace {
  /** Of the domain layer. */
  readonly table?: string
  readonly rawTable?: string
  readonly path?: string
  /** One that is there already; left out: a new one. */
  readonly field?: string
}

const placeIn = ({ plugin, connectionId, scopeId }: Record<string, unknown>) => ({
  plugin: text(plugin),
  connectionId: whole(connectionId),
  scopeId: text(scopeId),
})

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
      }),
    component: lazyRouteComponent(() => import('./map-field.tsx'), 'MapFieldPage'),
  }),
] as const
