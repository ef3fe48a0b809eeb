/**
 * Messages that a source sends by itself, also known as webhooks.
 *
 * delivery   one request that a source sends about one event; genuine when it is signed with the connection's secret
 * record     the content of a delivery: the same record that collecting would bring a little later
 */

import type { Where } from '../../database/read.ts'
import type { AnyTable, RawRecord } from '../../database/table.ts'
import type { Entity } from './entity.ts'

/** A delivery as it came, before anything in it is trusted. */
export interface SentDelivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface DeliverySpec {
  /** Instructions for those who set up deliveries at the source. */
  readonly setup: {
    /** A sentence that says where to enter the address. */
    readonly address: string
    /** A sentence that says where to enter the secret. */
    readonly secret: string
    /** The events to choose at the source. */
    readonly events: string
  }
  /** The source creates the secret, and it is entered in Weir. */
  readonly isSecretOfSource?: true
  /** Makes a new secret; default: 40 letters and digits. */
  readonly newSecret?: () => string
  readonly isGenuine: (delivery: SentDelivery, secret: string) => boolean
  /** Id of the delivery, which stays the same when the source sends it again; empty if the source gives none. */
  readonly idOf: (delivery: SentDelivery, payload: RawRecord) => string
  readonly eventOf: (delivery: SentDelivery, payload: RawRecord) => string
  /** The scopes that the delivery is about; undefined: none. */
  readonly scopes: (payload: RawRecord) => DeliveredScopes | undefined
  /** The effect of the delivery; undefined: the event is not known. */
  readonly read: (event: string, payload: RawRecord) => Effect | undefined
}

export interface DeliveredScopes {
  /** The scope's name as people know it. */
  readonly name: string
  /** These rows identify the scopes: rows of the scope table, or of another table that has the scope's key. */
  readonly table?: AnyTable
  readonly where: Where
  /** Message if there are no such scopes; default: that the scope must be added first. */
  readonly otherwise?: string
}

export type Effect =
  | {
      /** Such as `pull request 12`. */
      readonly subject: string
      readonly records: readonly DeliveredRecord[]
    }
  /** Nothing is changed: the delivery is a greeting, or it is about data that only collecting can bring. */
  | { readonly note: string; readonly isGreeting?: true }

export interface DeliveredRecord {
  /** The entity whose collector brings such records, and whose extraction reads them. */
  readonly entity: Entity
  /** The input with which the collector asks for this record. */
  readonly input?: Readonly<Record<string, unknown>>
  /** The record in the form in which it is collected. */
  readonly record: unknown
  /** For a record that is only a part: makes the whole with the help of the stored record; undefined: that is not possible. */
  readonly merge?: (stored: RawRecord) => unknown
  readonly news: News
}

/** How new a record is. A record that is older than the stored one is not taken. */
export interface News {
  /** The row that has the time of change: that of the record itself, or of the record that it belongs to. */
  readonly table: AnyTable
  readonly where: Where
  readonly timeOf: (row: RawRecord) => Date | null
  /** The time when the source changed the record. */
  readonly at: Date | null
  /** The time by which the collector lists such records, if that is another. */
  readonly listedAt?: Date | null
}
