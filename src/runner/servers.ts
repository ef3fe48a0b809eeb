/**
 * Tells which servers are alive. A server is dead when its number of heartbeats has not changed for a while, measured by the
 * clock of the observer.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { deleteRows, findRow, insertRow, selectRows, updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { isLeaseHolderGone } from '../database/lease-holder.ts'
import type { RowOf } from '../database/table.ts'
import { scopeLeases, servers } from '../system/runs.ts'
import { memoryKills, memoryPercent } from './interruptions.ts'
import type { Told } from './standstill/standing.ts'
import { THRESHOLDS } from './standstill/thresholds.ts'

/** How long a server may be silent before others take over what it holds. */
export const LEASE_MS = THRESHOLDS.silentMs

interface Watch {
  isDead(leaseHolder: string): Promise<boolean>
}
export interface Membership extends Watch {
  /** Returns false when this server was taken for dead, so that its pipelines may run elsewhere. */
  beat(): Promise<boolean>
  /** Deletes dead servers and their leases. */
  forgetDead(): Promise<void>
  leave(): Promise<void>
}
/** The facts that a server or worker tells others about itself. */
export type AboutServer = Partial<Pick<RowOf<typeof servers>, 'role' | 'host' | 'version' | 'concurrency'>>
/** The reason for a standstill that only this process can see. It is sent with every heartbeat. */
export type TellStandstill = () => Told | undefined

/** Watches the heartbeats of others. This process itself need not be a server. */
export function watchServers({ kysely }: Database, leaseMs: number): Watch {
  const seen = new Map<string, { beats: number; at: number }>()
  return {
    async isDead(other) {
      const row = await findRow(kysely, servers, { holder: other })
      if (row && !isLeaseHolderGone(other)) {
        const last = seen.get(other)
        const now = performance.now()
        if (last?.beats !== row.beats) seen.set(other, { beats: row.beats, at: now })
        if (last?.beats !== row.beats || now - last.at < leaseMs) return false
      }
      // Without its row the server cannot send heartbeats. If it wakes up, it learns that it was taken for dead.
      await deleteRows(kysely, servers, { holder: other })
      seen.delete(other)
      return true
    },
  }
}

export async function joinServers(
  database: Database,
  leaseHolder: string,
  leaseMs: number,
  about: AboutServer = {},
  tell: TellStandstill = () => undefined,
): Promise<Membership> {
  const { kysely } = database
  const { isDead } = watchServers(database, leaseMs)
  let beats = 0
  await insertRow(kysely, servers, { holder: leaseHolder, beats, ...about })
  return {
    beat: async () => {
      const memory = { memory_percent: memoryPercent(), memory_kills: memoryKills() }
      const values = { beats: ++beats, ...memory, standstill: tell() ?? null }
      return (await updateRows(kysely, servers, { holder: leaseHolder }, values)) === 1
    },
    isDead,
    async forgetDead() {
      for (const row of await selectRows(kysely, servers)) if (row.holder !== leaseHolder) await isDead(row.holder)
      // Every holder of a lease has a row in `servers`, so leases of unknown holders belong to dead ones.
      const known = kysely.selectFrom(servers.name).select('holder')
      await kysely.deleteFrom(scopeLeases.name).where('holder', 'not in', known).execute()
    },
    leave: async () => {
      await deleteRows(kysely, servers, { holder: leaseHolder })
    },
  }
}

const LOOK_MS = 250

/** Counts living servers. A server on another machine is given as long to send a heartbeat as it may be silent. */
export async function findLiving({ kysely }: Database, leaseMs = LEASE_MS): Promise<number> {
  const beatsOf = async () => new Map((await selectRows(kysely, servers)).map(({ holder, beats }) => [holder, beats]))
  const before = await beatsOf()
  const doubtful = [...before.keys()].filter((leaseHolder) => !isLeaseHolderGone(leaseHolder))
  for (const deadline = performance.now() + leaseMs; doubtful.length > 0 && performance.now() < deadline; ) {
    await sleep(LOOK_MS)
    const now = await beatsOf()
    const living = [...now].filter(
      ([leaseHolder, beats]) => before.get(leaseHolder) !== beats && !isLeaseHolderGone(leaseHolder),
    ).length
    if (living > 0) return living
    // All servers in question have left meanwhile.
    if (!doubtful.some((leaseHolder) => now.has(leaseHolder))) return 0
  }
  return 0
}
