/** Every source has the same routes, below its own name; their types are read from those of one of them. */
import type { AnswerTo, Operation } from './ask.ts'

export type SourceOperation = Extract<Operation, `${string} /plugins/github/${string}`>

export const ofSource = <Name extends SourceOperation>(operation: Name, plugin: string): Name =>
  operation.replace('/plugins/github/', `/plugins/${plugin}/`) as Name

/** A source as it describes itself. */
export type Source = AnswerTo<'GET /v1/sources'>[number]

/** A setting as forms draw it; which of these it has depends on its kind. */
export interface FieldDescription {
  readonly kind: string
  readonly label: string
  readonly help?: string
  readonly default?: unknown
  readonly suggestion?: unknown
  readonly isOnRequest?: boolean
  readonly panel?: string
  readonly isManaged?: boolean
  readonly isOptional?: boolean
  readonly authMethod?: string
  readonly choices?: readonly string[]
  readonly size?: number
  readonly schema?: JsonSchema
  /** Of a rule: the kinds of names that it speaks of. */
  readonly names?: readonly string[]
  readonly within?: string
  readonly isAllWhenEmpty?: boolean
  readonly isPreviewed?: boolean
}

export interface JsonSchema {
  readonly type?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
}
