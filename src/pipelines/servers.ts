/** Which servers live. A server is dead when its count of beats stands still, by the clock of whoever watches. */
import type { Database } from '../database/database.ts'
import { isGone } from '../database/holder.ts'
import { servers } from '../system/runs.ts'
import { deleteRows, findRow, insertRow, updateRows } from './store.ts'

/** How long a server may be silent before others take over what it holds. */
export const LEASE_MS = 15_000

export interface Membership {
  /** False: this server was taken for dead, and its pipelines may run elsewhere. */
  beat(): Promise<boolean>
  isDead(holder: string): Promise<boolean>
  leave(): Promise<void>
}

export async function joinServers(
  { kysely }: Database,
  holder: string,
  leaseMs: number,
  now: () => number = () => performance.now(),
): Promise<Membership> {
  const seen = new Map<string, { beats: number; at: number }>()
  let beats = 0
  await insertRow(kysely, servers, { holder, beats })
  return {
    beat: async () => (await updateRows(kysely, servers, { holder }, { beats: ++beats })) === 1,
    async isDead(other) {
      const row = await findRow(kysely, servers, { holder: other })
      if (row && !isGone(other)) {
        const last = seen.get(other)
        if (last?.beats !== row.beats) seen.set(other, { beats: row.beats, at: now() })
        if (last?.beats !== row.beats || now() - last.at < leaseMs) return false
      }
      // From here on it cannot beat any more: should it wake up, it learns that it was taken for dead.
      await deleteRows(kysely, servers, { holder: other })
      seen.delete(other)
      return true
    },
    leave: async () => {
      await deleteRows(kysely, servers, { holder })
    },
  }
}
