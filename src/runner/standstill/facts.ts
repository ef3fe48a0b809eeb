/** The facts that one check gathers about this process, the database and the queue. */
import { statfs } from 'node:fs/promises'
import { sql } from 'kysely'
import { updateRows } from '../../control-plane/store.ts'
import type { Database } from '../../database/database.ts'
import { publicMessageOf } from '../../errors.ts'
import { servers } from '../../system/runs.ts'
import type { QueueFacts } from './queue-facts.ts'
import type { Refusal } from './refusals.ts'

interface DiskFacts {
  readonly folder: string
  readonly freeBytes: number
  readonly sizeBytes: number
}
interface DatabaseFacts {
  /** Undefined when the database did not answer, for the reason in `failure`. */
  readonly statementSeconds: number | undefined
  readonly failure: string
  /** Why the database accepts no changes. Empty when it does, or when that is unknown. */
  readonly refusesChanges: string
  /** The clock of this machine minus that of the database. */
  readonly clockOffsetSeconds: number | undefined
}
export interface Facts {
  /** Undefined when there is no data folder yet. */
  readonly disk: DiskFacts | undefined
  readonly database: DatabaseFacts
  /** Undefined when the database does not answer. */
  readonly queue: QueueFacts | undefined
  readonly refusals: readonly Refusal[]
  /** True when tasks run on workers, according to the settings of this process. */
  readonly needsWorkers: boolean
}

const UNKNOWN: DatabaseFacts = {
  statementSeconds: undefined,
  failure: '',
  refusesChanges: '',
  clockOffsetSeconds: undefined,
}
/** The facts before anything was checked. */
export const NOTHING: Facts = {
  disk: undefined,
  database: UNKNOWN,
  queue: undefined,
  refusals: [],
  needsWorkers: false,
}

export async function readDisk(folder: string): Promise<DiskFacts | undefined> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder)
    return { folder, freeBytes: bavail * bsize, sizeBytes: blocks * bsize }
  } catch {
    return undefined
  }
}

export async function readDatabase(database: Database, clock: () => number): Promise<DatabaseFacts> {
  try {
    const before = clock()
    const began = performance.now()
    const { rows } = await sql<{ at: Date }>`select current_timestamp(3) as at`.execute(database.kysely)
    const statementSeconds = (performance.now() - began) / 1000
    const after = clock()
    const at = rows[0]?.at.getTime() ?? before
    // A difference smaller than the duration of the query cannot be measured, and counts as none.
    const off = at < before ? before - at : Math.min(0, after - at)
    const refusesChanges = await whyNoChanges(database)
    return { statementSeconds, failure: '', refusesChanges, clockOffsetSeconds: off / 1000 }
  } catch (error) {
    const failure = publicMessageOf(database.explain(error) ?? error)
    return { ...UNKNOWN, failure }
  }
}

/** Tries an update that matches no row. A server that accepts no changes refuses even that. */
async function whyNoChanges(database: Database): Promise<string> {
  try {
    await updateRows(database.kysely, servers, { holder: '' }, { is_draining: false })
    return ''
  } catch (error) {
    return database.isRetryable(error) ? '' : publicMessageOf(database.explain(error) ?? error)
  }
}
