/** Says which rows of a tool table belong to a scope. */
import type { Where } from '../../database/read.ts'
import type { AnyTable } from '../../database/table.ts'
import type { AnyScope } from './fields.ts'

/** `scopeColumn` is the column that holds the key of the scope. A table without it needs a `where` wherever its rows are read. */
export type Ownership<Scope> =
  | {
      readonly scopeColumn: string
      /** Column of the scope's table with that key. A function, if it is made from several. */
      readonly scopeKey: (keyof Scope & string) | ((scope: Scope) => string)
    }
  /** No table has such a column. */
  | { readonly scopeColumn: null }

export interface ScopeColumns {
  /** The column of a table that holds the scope; undefined: the table has none, and its rows may belong to several scopes. */
  readonly scopeColumnOf: (table: AnyTable) => string | undefined
  /** Selects the rows of a scope in a table that has the column. */
  readonly scopeWhere: (table: AnyTable, scope: AnyScope) => Where
}

/** `exceptions`: tables that have the scope in another column than the others. */
export function ownershipOf<Scope>(
  ownership: Ownership<Scope>,
  exceptions: ReadonlyMap<AnyTable, string>,
): ScopeColumns {
  if (ownership.scopeColumn === null) return { scopeColumnOf: () => undefined, scopeWhere: () => ({}) }
  const { scopeColumn, scopeKey } = ownership
  const scopeColumnOf = (table: AnyTable) =>
    exceptions.get(table) ?? (scopeColumn in table.columns ? scopeColumn : undefined)
  const keyOf = (scope: Scope) => (typeof scopeKey === 'function' ? scopeKey(scope) : scope[scopeKey])
  return {
    scopeColumnOf,
    scopeWhere: (table, scope) => {
      const column = scopeColumnOf(table)
      return column === undefined ? {} : { [column]: keyOf(scope as Scope) }
    },
  }
}

/** A `where` for rows that belong to the connection as a whole, such as its people. */
export const wholeConnection = (): Where => ({})
