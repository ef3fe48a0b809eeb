/**
 * A push source is a source that pushes: it is never asked for anything, and a connection is an address that it sends to.
 *
 * message   one thing that it sends; stored raw first, then processed like a collected record: raw → tool → domain
 * rebuild   the subtasks of a push source make everything again from the stored messages
 */
import type { Database } from '../../database/database.ts'
import type { AnyColumn, AnyTable, Columns, TableRow } from '../../database/table.ts'
import type { Entity } from './entity.ts'
import { fieldName } from './fields.ts'
import type { Spelling } from './subtask.ts'

export interface PushSourceSpec {
  readonly name: string
  readonly title: string
  /** A sentence about its data, for those who choose a source. */
  readonly about?: string
  /** The requirements for the sender, a line for each way of sending. */
  readonly rights?: readonly string[]
  readonly spelling: Spelling
  /** The rows of the domain model that a connection stands for. */
  readonly scopes: (connection: { readonly id: number; readonly name: string }) => readonly TableRow[]
  readonly entities: readonly Entity[]
  readonly deliveries: readonly Delivery[]
  /** Field of a connection in the API → the path, below the address of the connection, that the field shows. */
  readonly endpoints: Readonly<Record<string, string>>
}

/** A request that may be sent to a connection. */
export interface Delivery {
  /** Path below the address of the connection. */
  readonly path: string
  /** A sentence that says what the sender does; `where` is the place. */
  readonly summary: (where: string) => string
  /** Absent: there is no body. */
  readonly message?: Message
  readonly example?: object
  /** True if it may be sent to a project, too. */
  readonly isOfProject?: boolean
  readonly take: (inbox: Inbox, request: DeliveryRequest) => Promise<void>
}
interface DeliveryRequest {
  readonly params: Readonly<Record<string, string>>
  readonly body: unknown
  readonly url: string
}

/** A connection that receives messages. */
export interface Inbox {
  readonly connectionId: number
  readonly database: Database
  /** Stores a message as it came, and makes the rows that follow from it. `url` is the address that it was sent to. */
  take(entity: Entity, message: unknown, url: string): Promise<void>
}
export interface PushSource extends PushSourceSpec {
  readonly connections: AnyTable
}

/** The fields of a message are columns of a tool table; some accept only certain words. */
export type MessageFields = Readonly<Record<string, AnyColumn & { readonly words?: readonly string[] }>>

/** The form of a message, and the entity that is made from it. */
export interface Message {
  readonly entity: Entity
  readonly fields: MessageFields
  /** Lists of further fields within it; each holds at least one element. */
  readonly lists?: Readonly<Record<string, MessageFields>>
}

/** Columns that are read from fields of the same name in camel case, unless they have another source. */
export const fromFields = <const C extends Columns>(columns: C): C =>
  Object.fromEntries(
    Object.entries(columns).map(([name, column]) => [name, { source: fieldName(name), ...column }]),
  ) as C

export const oneOf = <C extends AnyColumn>(words: readonly string[], column: C): C & { words: readonly string[] } => ({
  ...column,
  words,
})
