/**
 * What a source sends by itself, also known as webhooks.
 *
 * delivery   one request that a source sends about one event; genuine when it is signed with the connection's secret
 * record     what it carries: the same as collecting would bring a little later, so that it is a record that arrived early
 */

import type { Where } from '../../database/read.ts'
import type { AnyTable, RawRecord } from '../../database/table.ts'
import type { Entity } from './entity.ts'

/** As it came, before anything in it is believed. */
export interface SentDelivery {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly query: Readonly<Record<string, string | undefined>>
  readonly body: Buffer
}

export interface DeliverySpec {
  /** For those who set it up at the source. */
  readonly setup: {
    /** Where the address is entered, in a sentence. */
    readonly address: string
    /** Where the secret is entered. */
    readonly secret: string
    /** What to choose among the events that the source can tell of. */
    readonly events: string
  }
  /** The source makes the secret, and whoever sets it up enters it here. */
  readonly isSecretOfSource?: true
  /** A new secret; default: 40 letters and digits. */
  readonly newSecret?: () => string
  readonly isGenuine: (delivery: SentDelivery, secret: string) => boolean
  /** The same when the source sends it again; empty where it does not say. */
  readonly idOf: (delivery: SentDelivery, payload: RawRecord) => string
  readonly eventOf: (delivery: SentDelivery, payload: RawRecord) => string
  /** Which scopes it is about; undefined where it is about none. */
  readonly scopes: (payload: RawRecord) => DeliveredScopes | undefined
  /** What follows from it; undefined: the event is not known. */
  readonly read: (event: string, payload: RawRecord) => Effect | undefined
}

export interface DeliveredScopes {
  /** As people call it. */
  readonly name: string
  /** The rows that tell which: of the scope table, or of another that has the scope's key. */
  readonly table?: AnyTable
  readonly where: Where
  /** What is said when there are none; default: that it is to be added first. */
  readonly otherwise?: string
}

export type Effect =
  | {
      /** Such as `pull request 12`. */
      readonly subject: string
      readonly records: readonly DeliveredRecord[]
    }
  /** Nothing is changed: it greets, or it tells of something that only collecting can bring. */
  | { readonly note: string; readonly isGreeting?: true }

export interface DeliveredRecord {
  /** Whose collector brings such records, and whose extraction reads them. */
  readonly entity: Entity
  /** What the collector iterates over when it asks for it. */
  readonly input?: Readonly<Record<string, unknown>>
  /** In the form in which it is collected. */
  readonly record: unknown
  /** Where that is only a part: the whole, made with what is stored of it; undefined when it cannot be made. */
  readonly merge?: (stored: RawRecord) => unknown
  readonly news: News
}

/** How new a record is: what is older than what is stored is not taken. */
export interface News {
  /** The row that has the time of change: the record's own, or that of what it hangs on. */
  readonly table: AnyTable
  readonly where: Where
  readonly timeOf: (row: RawRecord) => Date | null
  /** When the source changed it. */
  readonly at: Date | null
  /** The time that the collector lists such records by, where that is another. */
  readonly listedAt?: Date | null
}
