/**
 * Applies what sources have sent, in its order. Whoever collects a scope is its only writer: what comes meanwhile waits, and
 * is applied afterwards. The inbox tells of it in the same transaction, so that a kill loses nothing and applies nothing twice.
 */

import type { Database } from '../database/database.ts'
import { webhookDeliveries } from '../system/deliveries.ts'
import type { DeliveryWork } from './delivery-work.ts'
import type { Leases } from './leases.ts'

/** Looked at in one go. */
const AT_ONCE = 200
/** Neither a task nor a deletion. */
const LESSEE = { task_id: -1, pipeline_id: 0 }

class Busy extends Error {}

export interface Applier {
  readonly database: Database
  readonly leases: Leases
  readonly work: DeliveryWork
}

/** Gives how many it has dealt with; those whose scope is being collected stay. */
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

/** False: it continues waiting. `busy` has what others before it wait for. */
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
