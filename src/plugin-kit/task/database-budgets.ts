/**
 * Budgets in the database, for the requests that all servers and workers together send to a source. Only the clock of the
 * database counts, not that of any process.
 */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { isDuplicate } from '../../database/explain.ts'
import type { RowOf } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { requestBudgets } from '../../system/workers.ts'
import type { BudgetStore, QuotaGrant, QuotaReport } from '../http/index.ts'

type Budget = Pick<RowOf<typeof requestBudgets>, 'remaining' | 'reserved' | 'next_at' | 'is_probing'>

/** Requests reserved at a time, but no more than a tenth of the rest, so that no process hoards the last requests. */
const CHUNK = 20
const SHARE_OF_REST = 10
/** Longest wait for a process that is finding out a source's quota and has not reported. */
const PROBE_MS = 20_000
/** A source that gives no quota is treated as unlimited, and checked again after this time. */
const UNLIMITED = 1_000_000_000
const UNLIMITED_MS = 600_000
const PROBE_PAUSE_MS = 100
/** Pause before asking again, because other processes return reserved requests that they do not use. */
const RESERVED_PAUSE_MS = 500
/** Vendors give their time in whole seconds. */
const RESET_MARGIN_MS = 1000
const UNKNOWN: Budget = { remaining: 0, reserved: 0, next_at: 0, is_probing: false }
/** If the end of a window moves by less than this, it is still the same window. */
const SAME_WINDOW_MS = 5000

export function databaseBudgets(database: Database): BudgetStore {
  const table = requestBudgets.name

  /** Changes one row under a lock. */
  const change = <Result>(name: string, body: (budget: Budget, now: number) => [Budget, Result]): Promise<Result> =>
    retrying(database, async () => {
      for (;;) {
        const result = await database.transaction(async ({ kysely, dialect }) => {
          const { rows } = await sql<Budget & { now: number }>`select remaining, reserved, next_at, is_probing,
            ${sql.raw(dialect.milliseconds)} as now from ${sql.table(table)} where name = ${name} for update`.execute(
            kysely,
          )
          const [row] = rows
          if (!row) return undefined
          const { remaining, reserved, next_at, is_probing, now } = row
          const before = {
            remaining: Number(remaining),
            reserved: Number(reserved),
            next_at: Number(next_at),
            is_probing: Boolean(is_probing),
          }
          const [after, answer] = body(before, Number(now))
          const updated_at = new Date()
          await kysely
            .updateTable(table)
            .set({ ...after, updated_at })
            .where('name', '=', name)
            .execute()
          return { answer }
        })
        if (result) return result.answer
        await insert(name)
      }
    })

  async function insert(name: string): Promise<void> {
    const stamps = { created_at: new Date(), updated_at: new Date() }
    const empty = { remaining: 0, reserved: 0, next_at: 0, is_probing: false }
    try {
      await database.kysely
        .insertInto(table)
        .values({ name, ...empty, ...stamps })
        .execute()
    } catch (error) {
      if (!isDuplicate(error)) throw error
    }
  }

  return {
    ask: (name, report) => change(name, (budget, now) => grant(reported(budget, report, now), report, now)),
    book: (name, count, intervalMs) =>
      change(name, (budget, now) => {
        const next_at = Math.max(now, budget.next_at) + Math.ceil(count * intervalMs)
        return [{ ...budget, next_at }, budget.next_at - now]
      }),
  }
}

/**
 * `remaining` is the smallest rest that the source has given, and `reserved` counts all requests that may have been sent since;
 * the difference is free. A request is taken off `reserved` together with the quota in its answer, so none is forgotten.
 */
function reported(budget: Budget, { window, ended, silent, told, probe }: QuotaReport, now: number): Budget {
  const toldAt = told && now + told.resetsInMs
  // A process that took so long that another one asked the source is too late.
  if (probe !== 'none' && budget.is_probing) {
    if (probe === 'failed') return UNKNOWN
    const next_at = told ? Math.round(now + told.resetsInMs) : now + UNLIMITED_MS
    return { remaining: told?.remaining ?? UNLIMITED, reserved: 0, next_at, is_probing: false }
  }
  if (budget.is_probing || now >= budget.next_at) return budget
  const isSame = toldAt !== undefined && Math.abs(toldAt - budget.next_at) < SAME_WINDOW_MS
  const known = told && isSame ? Math.min(budget.remaining, told.remaining) : budget.remaining
  if (window !== budget.next_at) return { ...budget, remaining: known }
  return { ...budget, remaining: known - silent, reserved: Math.max(0, budget.reserved - ended) }
}

function grant(budget: Budget, { wantsMore }: QuotaReport, now: number): [Budget, QuotaGrant] {
  const none = { granted: 0, isProbe: false, window: budget.next_at, endsInMs: budget.next_at - now }
  if (!wantsMore) return [budget, none]
  if (now >= budget.next_at + RESET_MARGIN_MS) {
    const probing = { remaining: 0, reserved: 1, next_at: now + PROBE_MS, is_probing: true }
    return [probing, { granted: 1, isProbe: true, window: probing.next_at, endsInMs: PROBE_MS }]
  }
  if (budget.is_probing) return [budget, { ...none, askAgainInMs: PROBE_PAUSE_MS }]
  if (now >= budget.next_at || budget.remaining <= 0) return [budget, none]
  const free = budget.remaining - budget.reserved
  if (free <= 0) return [budget, { ...none, askAgainInMs: RESERVED_PAUSE_MS }]
  const granted = Math.min(free, CHUNK, Math.max(1, Math.floor(free / SHARE_OF_REST)))
  return [
    { ...budget, reserved: budget.reserved + granted },
    { ...none, granted },
  ]
}
