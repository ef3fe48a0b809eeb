/** The names that rules speak of: environments, workflows, labels, issue types. Stored ones, or some that a source tells. */
import type { AnyTable, RawRecord } from '../../database/table.ts'
import type { HttpRequest } from '../http/index.ts'
import type { AnyScope } from './fields.ts'

export interface NameKind {
  /** Of many, as a sentence says it. */
  readonly title: string
  readonly table: AnyTable
  readonly column: string
  /** What people call it, where the name is an id; in the same table. */
  readonly labelColumn?: string
  /** What it belongs to, such as the category of a status; in the same table. */
  readonly groupColumn?: string
  /** Only texts that contain one of these words: there are too many of them to show. */
  readonly words?: readonly string[]
  /** The other texts that a rule searches besides the column, such as a description; in the same table. */
  readonly alsoIn?: readonly string[]
  /** What patterns are matched against, if that is not the text as it is stored. */
  readonly nameIn?: (stored: string) => string
  /** The column that says which scope a row belongs to, and the column of scopes that it is compared with. */
  readonly scope: readonly [column: string, ofScopes: string]
  /** The table with that column, where names have none: its columns, and those of the names. */
  readonly through?: { readonly table: AnyTable; readonly on: Readonly<Record<string, string>> }
}
export type NameKinds = Readonly<Record<string, NameKind>>

export interface SampledName {
  readonly kind: string
  readonly name: string
  readonly label?: string
  readonly group?: string
  /** It exists; nothing tells how often it is used. */
  readonly isUncounted?: boolean
}
export interface NameSample {
  readonly request: (scope: AnyScope) => HttpRequest
  /** The same for all scopes: asked once. */
  readonly isForAll?: boolean
  readonly names: (body: RawRecord) => Iterable<SampledName>
}

export interface FoundName {
  readonly name: string
  /** Null where nothing tells. */
  readonly count: number | null
  readonly label: string
  readonly group: string
}
export type FoundNames = ReadonlyMap<string, readonly FoundName[]>

export interface RuleSuggestion {
  readonly field: string
  readonly value: unknown
  /** Why, in a sentence. */
  readonly reason: string
  /** Something that is there speaks for it; otherwise it is only what is usual. */
  readonly isFound: boolean
}
