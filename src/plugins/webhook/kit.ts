import { bigint, type Columns, common, defineTable, indexed, key } from '../../database/table.ts'
import { pluginKit } from '../../plugin-kit/index.ts'

/**
 * Defines a tool table. Ids contain no kind of record: `webhook:1` is the connection, and `webhook:1:KEY` any record that was
 * sent to it. The raw id has an index, because the rows that a message brought are looked up by the message.
 */
export const table = <const C extends Columns>(name: string, columns: C) =>
  defineTable(
    `_tool_webhook_${name}`,
    {
      connection_id: key(bigint((_message, { connectionId }: { connectionId: number }) => connectionId)),
      ...columns,
      ...common,
      _raw_data_id: indexed(bigint()),
    },
    { idPrefix: 'webhook' },
  )

export const entity = pluginKit('webhook').entityMaker<undefined, undefined>({ scopeColumn: null })

/** Returns the whole units from one moment to another. Null when one is missing or they are in the wrong order. */
export function spanOf(start: Date | null, end: Date | null, unitMs: number): number | null {
  const span = start && end ? end.getTime() - start.getTime() : -1
  return span < 0 ? null : Math.floor(span / unitMs)
}
