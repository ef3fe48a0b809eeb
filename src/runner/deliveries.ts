/**
 * Applies deliveries from sources in the order in which they arrived. A scope has only one writer: while a task collects it,
 * its deliveries wait. The inbox row changes in the same transaction, so a kill loses nothing and applies nothing twice.
 */

import type { Database } from '../database/database.ts'
import { webhookDeliveries } from '../system/deliveries.ts'
import type { DeliveryWork } from './delivery-work.ts'
import type { Leases } from './leases.ts'

/** The number of deliveries read at once. */
const AT_ONCE = 200
/** Marks a lease that belongs to a delivery, not to a task or a deletion. */
const LESSEE = { task_id: -1, pipeline_id: 0 }

class Busy extends Error {}

interface Applier {
  readonly database: Database
  readonly leases: Leases
  readonly work: DeliveryWork
}

/** Returns the number of deliveries that are done. Those whose scope is being collected keep waiting. */
export async function applyDeliveries(applier: Applier, signal: AbortSignal): Promise<number> {
  const waiting: { readonly id: number | string }[] = await applier.database.kysely
    .selectFrom(webhookDeliveries.name)
    .select('id')
    .where('state', '=', 'waiting')
    .orderBy('id')
    .limit(AT_ONCE)
    .execute()
  const busy = new Set<string>()
  let ended = 0
  for (const { id } of waiting) {
    if (signal.aborted) return ended
    if (await applyDelivery(applier, Number(id), busy, signal)) ended++
  }
  return ended
}

/** Returns false when the delivery must keep waiting. `busy` has the names of leases that earlier deliveries wait for. */
async function applyDelivery(
  { leases, work }: Applier,
  id: number,
  busy: Set<string>,
  signal: AbortSignal,
): Promise<boolean> {
  const names = await work.leasesOf(id)
  if (!names) return true
  const keepOrder = () => {
    for (const name of names) busy.add(name)
    throw new Busy()
  }
  try {
    if (names.some((name) => busy.has(name))) keepOrder()
    const end = await leases.take(names, LESSEE, signal, async () => keepOrder())
    if (!end) return false
    try {
      await work.apply(id)
      return true
    } finally {
      await end()
    }
  } catch (error) {
    if (error instanceof Busy) return false
    throw error
  }
}
