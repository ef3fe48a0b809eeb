import { bigint, type Columns, common, defineTable, indexed, key } from '../../database/table.ts'
import { pluginKit } from '../../plugin-kit/index.ts'

/**
 * A tool table. Ids have no part for the kind of thing: `webhook:1` is the connection, `webhook:1:KEY` whatever was sent
 * to it. What a message brought is looked for by the message.
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

export const entity = pluginKit('webhook').entityMaker<undefined, undefined>(() => ({}))

/** Whole units from one moment to another; null when one is missing or they stand in the wrong order. */
export function spanOf(start: Date | null, end: Date | null, unitMs: number): number | null {
  const span = start && end ? end.getTime() - start.getTime() : -1
  return span < 0 ? null : Math.floor(span / unitMs)
}
