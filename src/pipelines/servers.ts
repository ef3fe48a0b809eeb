/** Which servers live. A server is dead when its count of beats stands still, by the clock of whoever watches. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { isGone } from '../database/holder.ts'
import { scopeLeases, servers } from '../system/runs.ts'
import { deleteRows, findRow, insertRow, selectRows, updateRows } from './store.ts'

/** How long a server may be silent before others take over what it holds. */
export const LEASE_MS = 15_000

export interface Membership {
  /** False: this server was taken for dead, and its pipelines may run elsewhere. */
  beat(): Promise<boolean>
  isDead(holder: string): Promise<boolean>
  /** Forgets servers that are dead, with what they leased. */
  forgetDead(): Promise<void>
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
  async function isDead(other: string): Promise<boolean> {
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
  }
  return {
    beat: async () => (await updateRows(kysely, servers, { holder }, { beats: ++beats })) === 1,
    isDead,
    async forgetDead() {
      for (const row of await selectRows(kysely, servers)) if (row.holder !== holder) await isDead(row.holder)
      // Who takes a lease has joined before.
      const known = kysely.selectFrom(servers.name).select('holder')
      await kysely.deleteFrom(scopeLeases.name).where('holder', 'not in', known).execute()
    },
    leave: async () => {
      await deleteRows(kysely, servers, { holder })
    },
  }
}

const LOOK_MS = 250

/** How many servers live. One of another machine that does not beat is waited for as long as it may be silent. */
export async function findLiving({ kysely }: Database, leaseMs = LEASE_MS): Promise<number> {
  const beatsOf = async () => new Map((await selectRows(kysely, servers)).map(({ holder, beats }) => [holder, beats]))
  const before = await beatsOf()
  const doubtful = [...before.keys()].filter((holder) => !isGone(holder))
  for (const deadline = performance.now() + leaseMs; doubtful.length > 0 && performance.now() < deadline; ) {
    await sleep(LOOK_MS)
    const now = await beatsOf()
    const living = [...now].filter(([holder, beats]) => before.get(holder) !== beats && !isGone(holder)).length
    if (living > 0) return living
    // All have left meanwhile.
    if (!doubtful.some((holder) => now.has(holder))) return 0
  }
  return 0
}
