import { fileReceipt, type Receipt } from '../raw/receipts.ts'
import type { Collection } from './collection.ts'
import { countRaw } from './gone/drop-gone.ts'

/** Files the receipt of a collection: what the source reported, and what arrived. An interrupted run is followed by another. */
export function openReceipt() {
  let last: Receipt | undefined
  return async (collection: Collection, status: Receipt['status'], message: string): Promise<void> => {
    const { spec, task, subtaskKey, client, raw, key, run, tally, clock } = collection
    // If both runs are complete, the receipt of the second run must not hide the numbers of the first.
    const isSecond = status === 'complete' && last?.status === 'complete'
    const own = { expected: tally.expected ?? null, received: tally.received, since: run.since }
    const { expected, received, since }: typeof own = isSecond && last ? last : own
    last = {
      plugin: subtaskKey.plugin,
      ...key,
      subtask: subtaskKey.subtask,
      status,
      message,
      expected,
      received,
      since,
      until: clock.startedAt(),
      stored: await countRaw(task, raw),
      requests: client.usage.requests,
      counted_requests: client.usage.counted,
      tells_incidents: spec.tellsIncidents ?? false,
    }
    await fileReceipt(task.database, last)
  }
}
