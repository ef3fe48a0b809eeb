/** Names that rules refer to: environments, workflows, labels, issue types. They are stored, or a source gives some of them. */
import type { AnyTable, RawRecord } from '../../database/table.ts'
import type { HttpRequest } from '../http/index.ts'
import type { AnyScope } from './fields.ts'

export interface NameKind {
  /** The plural, as it is used in a sentence. */
  readonly title: string
  readonly table: AnyTable
  readonly column: string
  /** Column with the title that people know, if the name is an id; in the same table. */
  readonly labelColumn?: string
  /** Column with the group of a name, such as the category of a status; in the same table. */
  readonly groupColumn?: string
  /** Only texts that contain one of these words are listed, because all texts are too many to show. */
  readonly words?: readonly string[]
  /** The other texts that a rule searches besides the column, such as a description; in the same table. */
  readonly alsoIn?: readonly string[]
  /** Makes the text that patterns are matched against, if that is not the stored text. */
  readonly nameIn?: (stored: string) => string
  /** The column that says which scope a row belongs to, and the column of scopes that it is compared with. */
  readonly scope: readonly [column: string, ofScopes: string]
  /** The table that has this column, if the table of names has none; `on`: its column → column of the names. */
  readonly through?: { readonly table: AnyTable; readonly on: Readonly<Record<string, string>> }
}
export type NameKinds = Readonly<Record<string, NameKind>>

export interface SampledName {
  readonly kind: string
  readonly name: string
  readonly label?: string
  readonly group?: string
  /** The name exists, but its number of uses is unknown. */
  readonly isUncounted?: boolean
}
export interface NameSample {
  readonly request: (scope: AnyScope) => HttpRequest
  /** The answer is the same for all scopes, so it is asked for once. */
  readonly isForAll?: boolean
  readonly names: (body: RawRecord) => Iterable<SampledName>
}

export interface FoundName {
  readonly name: string
  /** Null: unknown. */
  readonly count: number | null
  readonly label: string
  readonly group: string
}
export type FoundNames = ReadonlyMap<string, readonly FoundName[]>

export interface RuleSuggestion {
  readonly field: string
  readonly value: unknown
  /** A sentence that gives the reason. */
  readonly reason: string
  /** True if names that were found support it; otherwise it is only the usual rule. */
  readonly isFound: boolean
}
