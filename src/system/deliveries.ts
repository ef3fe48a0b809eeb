/** What tools pushed. A module of tables exports tables and nothing else. */
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
    /** Of a source whose own webhooks come here; empty: a webhook connection, to which anybody may send. */
    plugin: string(60),
    /** Such as `deployments`, or the source's name of the event. */
    kind: string(100),
    /** The source's own: the same when it sends it again. */
    delivery_id: indexed(string(191)),
    /** What it is about, by the source's name. */
    scope: string(),
    /** `waiting`, `applied`, `ignored`, `refused` or `failed`; empty of a webhook connection. */
    state: indexed(string(20)),
    /** What it changed, or why nothing. */
    effect: text(),
    /** Where it was sent to, without what follows the question mark. */
    path: string(500),
    sender: string(),
    address: string(100),
    /** Of our answer; below 300 it was taken. */
    status: integer(),
    /** Why it was not taken. */
    message: text(),
    /** Its beginning, secrets masked. */
    payload: text(),
    /** The whole of what can be applied again, secrets masked. */
    body: bytes(),
    /** Of the whole. */
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
