/**
 * A push source is a source that pushes: nothing is asked of it, and a connection is an address that it sends to.
 *
 * message   one thing that it sends; kept raw first, then it takes the way of what is collected: raw → tool → domain
 * rebuild   the subtasks of a push source make everything again from the messages that were kept
 */
import type { Database } from '../../database/database.ts'
import type { AnyColumn, AnyTable, Columns, TableRow } from '../../database/table.ts'
import type { Entity } from './entity.ts'
import { fieldName } from './fields.ts'
import type { Spelling } from './subtask.ts'

export interface PushSourceSpec {
  readonly name: string
  readonly title: string
  /** What it knows, in a sentence for those who choose. */
  readonly about?: string
  /** What whoever sends needs, a line for each way. */
  readonly rights?: readonly string[]
  readonly spelling: Spelling
  /** The rows of the domain model that a connection stands for. */
  readonly scopes: (connection: { readonly id: number; readonly name: string }) => readonly TableRow[]
  readonly entities: readonly Entity[]
  readonly deliveries: readonly Delivery[]
  /** Field of a connection, as the API shows it → the path below its address that it tells. */
  readonly endpoints: Readonly<Record<string, string>>
}

/** What may be sent to a connection. */
export interface Delivery {
  /** Below the address of the connection. */
  readonly path: string
  /** What the sender does, in a sentence about `where`. */
  readonly summary: (where: string) => string
  /** Absent: there is no body. */
  readonly message?: Message
  readonly example?: object
  /** Whether it may be sent to a project, too. */
  readonly isOfProject?: boolean
  readonly take: (inbox: Inbox, request: DeliveryRequest) => Promise<void>
}
export interface DeliveryRequest {
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
  readonly url: string
}

/** A connection that is open to what is sent to it. */
export interface Inbox {
  readonly connectionId: number
  readonly database: Database
  /** Keeps a message as it came, and makes the rows that follow from it. `url` tells where it was sent to. */
  take(entity: Entity, message: unknown, url: string): Promise<void>
}
export interface PushSource extends PushSourceSpec {
  readonly connections: AnyTable
}

/** The fields of a message are columns of a tool table; some may hold certain words only. */
export type MessageFields = Readonly<Record<string, AnyColumn & { readonly words?: readonly string[] }>>

/** What may be sent, and the entity that is made of it. */
export interface Message {
  readonly entity: Entity
  readonly fields: MessageFields
  /** Lists of further fields within it; each holds at least one element. */
  readonly lists?: Readonly<Record<string, MessageFields>>
}

/** Columns that are read from fields of their own names in camel case, unless they say otherwise. */
export const fromFields = <const C extends Columns>(columns: C): C =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, { source: fieldName(name), ...column }]),
  ) as C

export const oneOf = <C extends AnyColumn>(words: readonly string[], column: C): C & { words: readonly string[] } => ({
  ...column,
  words,
})
