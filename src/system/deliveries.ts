/** What tools pushed. A module of tables exports tables and nothing else. */
import { bigint, defineTable, generated, indexed, integer, key, string, text, written } from '../database/table.ts'

export const webhookDeliveries = defineTable(
  '_weir_webhook_deliveries',
  {
    connection_id: indexed(bigint(), 'newest'),
    id: indexed(key(generated(bigint())), 'newest'),
    /** Such as `deployments`. */
    kind: string(40),
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
    /** Of the whole. */
    characters: bigint(),
    ...written,
  },
  { meaning: 'The last messages to each webhook connection, and what became of them.' },
)
