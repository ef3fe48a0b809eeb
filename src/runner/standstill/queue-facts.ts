/** Reads from the database which processes are alive, what waits and what runs. */
import { QUEUED, UNFINISHED } from '../../control-plane/runs/states.ts'
import { selectRows } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import { isLeaseHolderGone } from '../../database/lease-holder.ts'
import { pipelines } from '../../system/pipelines.ts'
import { pipelineLeases, servers } from '../../system/runs.ts'
import { openRuns } from '../workers/task-runs.ts'
import type { Told } from './standing.ts'

interface Member {
  readonly kind: 'server' | 'worker'
  readonly host: string
  readonly isAlive: boolean
  readonly isDraining: boolean
  /** The number of tasks at a time; 0 for a server that leaves them to workers. */
  readonly places: number
  /** The causes of a standstill that the process reported about itself. */
  readonly told: Told | undefined
}
export interface QueueFacts {
  readonly members: readonly Member[]
  /** Runs that no server has taken. */
  readonly waiting: { readonly count: number; readonly runs: readonly number[]; readonly seconds: number }
  /** Runs that a server has taken, and whether that server is alive. */
  readonly running: readonly { readonly id: number; readonly isHeld: boolean }[]
  /** Tasks that were handed out to workers but that no worker has taken. */
  readonly handedOut: {
    readonly count: number
    readonly runs: readonly number[]
    readonly seconds: number
    /** The reasons why workers did not take them. */
    readonly notes: readonly string[]
  }
  /** Tasks that workers run. */
  readonly taken: number
}

type QueueReader = (secondsOff: number) => Promise<QueueFacts>

const MOST_NAMED = 100
const MOST_NOTES = 3

/** Only heartbeats show whether a process is alive, because the clocks of machines differ. So a second read knows more than the first. */
export function createQueueReader({ kysely }: Database, silentMs: number): QueueReader & { isSure(): boolean } {
  const seen = new Map<string, { beats: number; at: number; hasBeaten: boolean }>()

  function isAlive(holder: string, beats: number): boolean {
    const last = seen.get(holder)
    const now = performance.now()
    if (!last || last.beats !== beats) seen.set(holder, { beats, at: now, hasBeaten: last !== undefined })
    return !isLeaseHolderGone(holder) && now - (seen.get(holder)?.at ?? now) < silentMs
  }

  async function read(secondsOff: number): Promise<QueueFacts> {
    const secondsSince = (moment: unknown) =>
      moment instanceof Date ? Math.max(0, (Date.now() - moment.getTime()) / 1000 - secondsOff) : 0
    const [rows, unfinished, handed] = await Promise.all([
      selectRows(kysely, servers, (query) => query.where('role', '!=', '')),
      kysely
        .selectFrom(`${pipelines.name} as run`)
        .leftJoin(`${pipelineLeases.name} as lease`, 'lease.pipeline_id', 'run.id')
        .select(['run.id', 'run.status', 'run.updated_at', 'lease.holder'])
        .where('run.status', 'in', UNFINISHED)
        .orderBy('run.id')
        .execute(),
      openRuns(kysely),
    ])
    for (const holder of seen.keys()) if (!rows.some((row) => row.holder === holder)) seen.delete(holder)
    const alive = new Set(rows.filter(({ holder, beats }) => isAlive(holder, beats)).map(({ holder }) => holder))
    const queued = unfinished.filter(({ status }) => (QUEUED as readonly string[]).includes(status))
    const left = handed.filter(({ worker }) => worker === '')
    return {
      members: rows.map((row) => ({
        kind: row.role === 'worker' ? 'worker' : 'server',
        host: row.host,
        isAlive: alive.has(row.holder),
        isDraining: row.is_draining,
        places: row.concurrency,
        told: (row.standstill ?? undefined) as Told | undefined,
      })),
      waiting: {
        count: queued.length,
        runs: queued.slice(0, MOST_NAMED).map(({ id }) => Number(id)),
        seconds: Math.max(0, ...queued.map(({ updated_at }) => secondsSince(updated_at))),
      },
      running: unfinished
        .filter(({ status }) => status === 'TASK_RUNNING')
        .map(({ id, holder }) => ({ id: Number(id), isHeld: alive.has(String(holder)) })),
      handedOut: {
        count: left.length,
        runs: [...new Set(left.map(({ pipeline_id }) => pipeline_id))].slice(0, MOST_NAMED),
        seconds: Math.max(0, ...left.map(({ created_at }) => secondsSince(created_at))),
        notes: [...new Set(left.map(({ note }) => note).filter((note) => note !== ''))].slice(0, MOST_NOTES),
      },
      taken: handed.length - left.length,
    }
  }

  return Object.assign(read, {
    /** True when it is known of every process whether it is alive. */
    isSure: () =>
      [...seen].every(
        ([holder, { at, hasBeaten }]) => hasBeaten || isLeaseHolderGone(holder) || performance.now() - at >= silentMs,
      ),
  })
}
