/** For answers that can still tell something while the database is unavailable. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { UnavailableError } from '../errors.ts'

const PATIENCE_MS = 5000

/** Undefined if the database is unavailable or does not answer in time. */
export async function inTime<Result>(database: Database, asked: Promise<Result>): Promise<Result | undefined> {
  const late = new AbortController()
  try {
    return await Promise.race([asked, sleep(PATIENCE_MS, undefined, { signal: late.signal })])
  } catch (error) {
    if ((database.explain(error) ?? error) instanceof UnavailableError) return undefined
    throw error
  } finally {
    late.abort()
    asked.catch(() => {})
  }
}
