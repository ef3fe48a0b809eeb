import type { z } from 'zod'
import type { AnyValue } from '../../database/table.ts'
import type { FieldKind } from './field-kinds.ts'

/** A name that a rule in JSON refers to. */
export interface SpokenName {
  /** The place in the rule that refers to it, such as `statusMappings.done` of a type. */
  readonly place: string
  readonly kind: string
  readonly name: string
  /** It is the name of a group of names, such as a category of statuses. */
  readonly isGroup?: boolean
  /** The value that the rule gives it. */
  readonly meaning: unknown
}

/** One setting: validated by the api, drawn by the ui, documented in docs, stored as a column. */
export type Field = DescribedField &
  (
    | { readonly kind: Exclude<FieldKind, 'json'> }
    /** Schema of the JSON; its messages are put after the name of the field. */
    | { readonly kind: 'json'; readonly schema: z.ZodType }
  )
interface DescribedField {
  readonly label: string
  readonly help?: string
  /** Stored if no value is given. */
  readonly default?: unknown
  /** Value that a form starts with, and that applies to scopes without a scope config. The API does not fill it in. */
  readonly suggestion?: unknown
  /** The suggestion is only for those who want this rule; it never applies by itself. */
  readonly isOnRequest?: boolean
  /** Heading in a form; fields with the same heading are drawn together. */
  readonly panel?: string
  /** A refresh token that is replaced whenever it is used: see rotating-tokens.ts. */
  readonly isRotated?: boolean
  /** Set by Weir itself: shown, never asked for. */
  readonly isManaged?: boolean
  readonly isOptional?: boolean
  /** Belongs to this choice of the field `authMethod`: required with it, and meaningless with another. */
  readonly authMethod?: string
  readonly choices?: readonly string[]
  /** Longest value; unlimited text when absent. */
  readonly size?: number
  /** Kinds of names (keys of `scopeConfig.names`) that the rule refers to. In a text field they are separated by commas. */
  readonly names?: readonly string[]
  /** The same for JSON: the names that a value refers to, each of them a rule. */
  readonly spokenNames?: (value: unknown) => readonly SpokenName[]
  /** The kind of texts (a key of `scopeConfig.names`) that the rule searches. Those of its `words` that occur there are suggested. */
  readonly textsOf?: string
  /** A pattern for further names of this kind that the suggestion does not match; used only to make suggestions. */
  readonly looksLike?: string
  /** If there are names of this kind, another rule is more exact, and this one can stay empty. */
  readonly needlessWith?: string
  /** The rule selects from the names that the rule of this field matches. */
  readonly within?: string
  /** An empty rule matches everything. */
  readonly isAllWhenEmpty?: boolean
  /** The column that stores it, if that does not follow from its name. */
  readonly column?: string
  /** Text of several lines, such as a key. */
  readonly isMultiline?: boolean
}
/** Fields of a connection that are not secret, and the `facts` that its plugin declares. */
export interface ConnectionFacts {
  readonly endpoint: string
  readonly timeZone?: string
  readonly [field: string]: AnyValue
}
export type Fields = Readonly<Record<string, Field>>
export type Settings = Readonly<Record<string, AnyValue>>
/** A row of the table of scopes of some plugin. */
// biome-ignore lint/suspicious/noExplicitAny: only the plugin knows its columns
export type AnyScope = any

/** `deploymentPattern` → `deployment_pattern`; runs of capitals stay together. */
export const columnName = (field: string): string => field.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase()
export const columnOf = (name: string, { column }: Pick<Field, 'column'>): string => column ?? columnName(name)
/** `deployment_pattern` → `deploymentPattern`. */
export const fieldName = (column: string): string => column.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())
