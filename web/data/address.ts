import { text, whole } from '../parts/address.ts'

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
  /** The raw record that is followed: its table and id, such as _raw_jira_api_issues:12. */
  readonly record?: string
}
/** A row of the domain layer. */
export interface RowView {
  readonly table?: string
  readonly id?: string
}
export interface FieldDraft extends ScopePlace {
  /** A table of the domain layer. */
  readonly table?: string
  readonly rawTable?: string
  readonly path?: string
  /** An existing field; left out: a new one. */
  readonly field?: string
  /** Name for a new field; left out: it is named after the value that fills it. */
  readonly name?: string
}

export const placeIn = ({ plugin, connectionId, scopeId }: Record<string, unknown>) => ({
  plugin: text(plugin),
  connectionId: whole(connectionId),
  scopeId: text(scopeId),
})
