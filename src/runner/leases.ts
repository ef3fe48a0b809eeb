/**
 * Ensures that data has one writer at a time. A task leases the data that it works on, across all servers of a database. A
 * lease ends with its task, or with the server that runs it.
 */
import { randomUUID } from 'node:crypto'
import { ConflictError } from '../control-plane/guards.ts'
import { deleteRows, findRow, insertRow } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { isDuplicate } from '../database/explain.ts'
import { newLeaseHolder } from '../database/lease-holder.ts'
import type { RowOf } from '../database/table.ts'
import { retrying } from '../database/write.ts'
import { scopeLeases } from '../system/runs.ts'
import { joinServers, LEASE_MS, type Membership } from './servers.ts'

/** How often to check for leases that ended on other servers. */
const LOOK_MS = 500
const BEAT_MS = 1000

export type Lease = RowOf<typeof scopeLeases>
/** The holder of a lease: a task of a pipeline, or (0) a deletion of data, or (-1) a delivery that is being applied. */
type Lessee = Pick<Lease, 'task_id' | 'pipeline_id'>
const DELETION: Lessee = { task_id: 0, pipeline_id: 0 }

export interface Server {
  readonly leaseHolder: string
  readonly membership: Membership
}

/** Ends the leases, except those that a worker has taken over. */
interface TakenLeases {
  (): Promise<void>
  readonly tokens: readonly string[]
}

export interface Leases {
  /**
   * Takes leases for all names, and waits for those that others hold; `onWait` receives the lease that it waits for. Returns
   * the function that ends the leases, or undefined when the signal is aborted first.
   */
  take(
    names: readonly string[],
    lessee: Lessee,
    signal: AbortSignal,
    onWait: (lease: Lease) => Promise<void>,
  ): Promise<TakenLeases | undefined>
  /** Ends leases that could not be ended in time, for example because the database was unreachable. */
  endLeft(): Promise<void>
}

export const describeLease = ({ task_id, pipeline_id }: Lessee): string =>
  task_id > 0
    ? `task ${task_id} of pipeline ${pipeline_id}`
    : task_id < 0
      ? 'a delivery of its source'
      : 'the deletion of its data'

interface TakenLease {
  readonly token: string
  readonly holder: string
  readonly isTaken: true
}

/** A server that was taken for dead continues under another lease holder, so `server` is called each time. */
export function createLeases(database: Database, server: () => Server): Leases {
  const { kysely } = database
  const held = new Set<string>()
  /** Leases that still have to be ended, as token and holder. */
  const left = new Map<string, string>()
  const waiting = new Set<() => void>()

  /** Returns the new lease, or the existing lease of another holder. */
  const tryTake = (name: string, lessee: Lessee): Promise<TakenLease | Lease> =>
    // Two processes that insert and delete at once may deadlock in an index. One of them is then told to try again.
    retrying(database, () => tryOnce(name, lessee))

  async function tryOnce(name: string, lessee: Lessee): Promise<TakenLease | Lease> {
    for (;;) {
      const { leaseHolder, membership } = server()
      const found = await findRow(kysely, scopeLeases, { name })
      if (found) {
        const isOver = found.holder === leaseHolder ? !held.has(found.token) : await membership.isDead(found.holder)
        if (!isOver) return found
        // The condition on the holder spares a lease that a worker has taken over meanwhile.
        await deleteRows(kysely, scopeLeases, { name, token: found.token, holder: found.holder })
        continue
      }
      const token = randomUUID()
      held.add(token)
      try {
        await insertRow(kysely, scopeLeases, { name, holder: leaseHolder, token, ...lessee })
        return { token, holder: leaseHolder, isTaken: true }
      } catch (error) {
        held.delete(token)
        // Another process inserted the lease first.
        if (!isDuplicate(error)) throw error
      }
    }
  }

  async function endLeft(): Promise<void> {
    for (const [token, holder] of left) {
      await deleteRows(kysely, scopeLeases, { token, holder })
      left.delete(token)
    }
  }

  async function end(taken: readonly TakenLease[]): Promise<void> {
    for (const { token, holder } of taken) {
      held.delete(token)
      left.set(token, holder)
    }
    // A failure here is retried later, and nothing on this server waits for it.
    await endLeft().catch(() => {})
    for (const wake of waiting) wake()
  }

  const untilChange = (signal: AbortSignal) =>
    new Promise<void>((done) => {
      const go = () => {
        clearTimeout(timer)
        waiting.delete(go)
        signal.removeEventListener('abort', go)
        done()
      }
      const timer = setTimeout(go, LOOK_MS)
      waiting.add(go)
      signal.addEventListener('abort', go, { once: true })
      if (signal.aborted) go()
    })

  return {
    async take(names, lessee, signal, onWait) {
      const taken: TakenLease[] = []
      let isComplete = false
      try {
        // Takes the names in sorted order, so that two tasks never wait for each other.
        for (const name of [...new Set(names)].sort()) {
          for (;;) {
            if (signal.aborted) return undefined
            const found = await tryTake(name, lessee)
            if ('isTaken' in found) {
              taken.push(found)
              break
            }
            await onWait(found)
            await untilChange(signal)
          }
        }
        isComplete = true
        return Object.assign(() => end(taken), { tokens: taken.map(({ token }) => token) })
      } finally {
        if (!isComplete) await end(taken)
      }
    },
    endLeft,
  }
}

/** Runs a deletion while no task holds a lease of these names; throws when one does. */
export async function deleteAlone<Result>(
  database: Database,
  names: readonly string[],
  body: () => Promise<Result>,
): Promise<Result> {
  const leaseHolder = newLeaseHolder()
  const membership = await joinServers(database, leaseHolder, LEASE_MS)
  const beating = setInterval(() => void membership.beat().catch(() => {}), BEAT_MS)
  try {
    const leases = createLeases(database, () => ({ leaseHolder, membership }))
    const end = await leases.take(names, DELETION, new AbortController().signal, async (lease) => {
      throw new ConflictError(`It is in use by ${describeLease(lease)}: wait for it, or cancel it.`)
    })
    try {
      return await body()
    } finally {
      await end?.()
    }
  } finally {
    clearInterval(beating)
    await membership.leave()
  }
}
