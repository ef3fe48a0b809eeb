/**
 * One writer at a time: what a task works on is leased to it, over all servers of a database. A lease ends with its task,
 * or with the server that runs it.
 */
import { randomUUID } from 'node:crypto'
import type { Database } from '../database/database.ts'
import { isDuplicate } from '../database/explain.ts'
import { newHolder } from '../database/holder.ts'
import type { RowOf } from '../database/table.ts'
import { scopeLeases } from '../system/runs.ts'
import { ConflictError } from './guards.ts'
import { joinServers, LEASE_MS, type Membership } from './servers.ts'
import { deleteRows, findRow, insertRow } from './store.ts'

/** Leases that end on other servers are seen this often. */
const LOOK_MS = 500
const BEAT_MS = 1000

export type Lease = RowOf<typeof scopeLeases>
/** Whom a lease is for: a task of a pipeline, or neither; then data is being deleted. */
type Lessee = Pick<Lease, 'task_id' | 'pipeline_id'>
const DELETION: Lessee = { task_id: 0, pipeline_id: 0 }

export interface Server {
  readonly holder: string
  readonly membership: Membership
}

export interface Leases {
  /**
   * Takes all of the names, and waits for those that others have; `onWait` hears whose they are. Gives the function that
   * ends them, or undefined when the signal is given first.
   */
  take(
    names: readonly string[],
    lessee: Lessee,
    signal: AbortSignal,
    onWait: (lease: Lease) => Promise<void>,
  ): Promise<(() => Promise<void>) | undefined>
  /** Ends what could not be ended when it should have been, say because the database was away. */
  endLeft(): Promise<void>
}

export const describeLease = ({ task_id, pipeline_id }: Lessee): string =>
  task_id > 0 ? `task ${task_id} of pipeline ${pipeline_id}` : 'the deletion of its data'

/** A server that was taken for dead goes on under another holder: it is asked for anew each time. */
export function createLeases({ kysely }: Database, server: () => Server): Leases {
  const held = new Set<string>()
  const left = new Set<string>()
  const waiting = new Set<() => void>()

  /** The token of the new lease, or the lease of whoever has it. */
  async function tryTake(name: string, lessee: Lessee): Promise<string | Lease> {
    for (;;) {
      const { holder, membership } = server()
      const found = await findRow(kysely, scopeLeases, { name })
      if (found) {
        const isOver = found.holder === holder ? !held.has(found.token) : await membership.isDead(found.holder)
        if (!isOver) return found
        await deleteRows(kysely, scopeLeases, { name, token: found.token })
        continue
      }
      const token = randomUUID()
      held.add(token)
      try {
        await insertRow(kysely, scopeLeases, { name, holder, token, ...lessee })
        return token
      } catch (error) {
        held.delete(token)
        // Somebody else was first.
        if (!(error instanceof Error) || !isDuplicate(error.cause)) throw error
      }
    }
  }

  async function endLeft(): Promise<void> {
    for (const token of left) {
      await deleteRows(kysely, scopeLeases, { token })
      left.delete(token)
    }
  }

  async function end(tokens: readonly string[]): Promise<void> {
    for (const token of tokens) {
      held.delete(token)
      left.add(token)
    }
    // What fails now is tried again, and nobody of this server waits for it.
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
      const taken: string[] = []
      let isComplete = false
      try {
        // In one order, so that no two wait for each other.
        for (const name of [...new Set(names)].sort()) {
          for (;;) {
            if (signal.aborted) return undefined
            const found = await tryTake(name, lessee)
            if (typeof found === 'string') {
              taken.push(found)
              break
            }
            await onWait(found)
            await untilChange(signal)
          }
        }
        isComplete = true
        return () => end(taken)
      } finally {
        if (!isComplete) await end(taken)
      }
    },
    endLeft,
  }
}

/** Deletes while no task works on what has these names; refuses when one does. */
export async function deleteAlone<Result>(
  database: Database,
  names: readonly string[],
  body: () => Promise<Result>,
): Promise<Result> {
  const holder = newHolder()
  const membership = await joinServers(database, holder, LEASE_MS)
  const beating = setInterval(() => void membership.beat().catch(() => {}), BEAT_MS)
  try {
    const leases = createLeases(database, () => ({ holder, membership }))
    const end = await leases.take(names, DELETION, new AbortController().signal, async (lease) => {
      throw new ConflictError(`It is worked on by ${describeLease(lease)}: wait for it, or cancel it.`)
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
