/** For answers that say something of a database that is away. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '../database/database.ts'
import { UnavailableError } from '../errors.ts'

const PATIENCE_MS = 5000

/** Undefined when the database is away, or does not answer in time. */
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
