/** Tables for data that tools push. This module must export only tables. */
import {
  bigint,
  bytes,
  defineTable,
  generated,
  indexed,
  integer,
  key,
  sealed,
  string,
  text,
  written,
} from '../database/table.ts'

export const webhookDeliveries = defineTable(
  '_weir_webhook_deliveries',
  {
    connection_id: indexed(bigint(), 'newest'),
    id: indexed(key(generated(bigint())), 'newest'),
    /** The source that sends its own webhooks here. Empty for a webhook connection, to which any tool may send. */
    plugin: string(60),
    /** The kind of message, such as `deployments`, or the name that the source gives the event. */
    kind: string(100),
    /** The id that the source gives the delivery. It is the same when the source sends the delivery again. */
    delivery_id: indexed(string(191)),
    /** The scope that it is about, by its name in the source. */
    scope: string(),
    /** `waiting`, `applied`, `ignored`, `refused` or `failed`; empty for a webhook connection. */
    state: indexed(string(20)),
    /** Says what the delivery changed, or why it changed nothing. */
    effect: text(),
    /** The path that it was sent to, without the query. */
    path: string(500),
    sender: string(),
    address: string(100),
    /** The HTTP status of Weir's answer. Below 300 the delivery was accepted. */
    status: integer(),
    /** Why the delivery was not accepted. */
    message: text(),
    /** The beginning of the payload, with secrets masked. */
    payload: text(),
    /** The whole payload of a delivery that can be applied again, with secrets masked. */
    body: bytes(),
    /** The length of the whole payload. */
    characters: bigint(),
    ...written,
  },
  { meaning: 'The last messages and deliveries to each connection, with their results.' },
)

export const deliverySecrets = defineTable(
  '_weir_delivery_secrets',
  { plugin: key(string(60)), connection_id: key(bigint()), secret: sealed(text()), ...written },
  { meaning: 'What deliveries of a source to a connection are signed with.' },
)
