import type { z } from 'zod'
import type { AnyValue } from '../../database/table.ts'
import type { FieldKind } from './field-kinds.ts'

/** A name that a rule of JSON speaks of. */
export interface SpokenName {
  /** What in the rule speaks of it, such as `statusMappings.done` of a type. */
  readonly place: string
  readonly kind: string
  readonly name: string
  /** It names what names belong to, such as the category of statuses. */
  readonly isGroup?: boolean
  /** What the rule makes of it. */
  readonly meaning: unknown
}

/** One setting: validated by the api, drawn by the ui, documented in docs, stored as a column. */
export type Field = DescribedField &
  (
    | { readonly kind: Exclude<FieldKind, 'json'> }
    /** What the JSON may be; its messages go after the name of the field. */
    | { readonly kind: 'json'; readonly schema: z.ZodType }
  )
interface DescribedField {
  readonly label: string
  readonly help?: string
  /** Stored when nothing is given. */
  readonly default?: unknown
  /** What a form starts with, and what holds for scopes without a scope config; the API does not put it in. */
  readonly suggestion?: unknown
  /** The suggestion is only for those who want such a thing: never assumed. */
  readonly isOnRequest?: boolean
  /** Fields of one heading are drawn together. */
  readonly panel?: string
  /** A refresh token that use replaces: see rotating-tokens.ts. */
  readonly isRotated?: boolean
  /** Kept by the product itself: shown, never asked for. */
  readonly isManaged?: boolean
  readonly isOptional?: boolean
  /** Belongs to this choice of the field `authMethod`: needed with it, without meaning beside another. */
  readonly authMethod?: string
  readonly choices?: readonly string[]
  /** Longest value; unlimited text when absent. */
  readonly size?: number
  /** Kinds of names, of `scopeConfig.names`, that the rule speaks of. A text names some of them, with commas between. */
  readonly names?: readonly string[]
  /** The same of JSON: which names a value speaks of, each a rule of its own. */
  readonly spokenNames?: (value: unknown) => readonly SpokenName[]
  /** The kind of texts, of `scopeConfig.names`, that the rule searches: its words that occur there are suggested. */
  readonly textsOf?: string
  /** What such names look like where the suggestion does not match them: for suggestions alone. */
  readonly looksLike?: string
  /** Where there are names of this kind, another rule says it more exactly, and this one can stay empty. */
  readonly needlessWith?: string
  /** The rule chooses among what the rule of this field matches. */
  readonly within?: string
  /** An empty rule matches everything. */
  readonly isAllWhenEmpty?: boolean
  /** Where it is stored, if its name does not say it. */
  readonly column?: string
  /** Text of several lines, such as a key. */
  readonly isMultiline?: boolean
}
/** Fields of a connection that are no secrets, and the `facts` that its plugin names. */
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
/** The column of a field. */
export const columnOf = (name: string, { column }: Pick<Field, 'column'>): string => column ?? columnName(name)
/** `deployment_pattern` → `deploymentPattern`. */
export const fieldName = (column: string): string => column.replace(/_([a-z0-9])/g, (_, letter) => letter.toUpperCase())
