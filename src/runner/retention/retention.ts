/**
 * Deletes data that is older than the retention of its layer, in one transaction. Metrics are read before and after the
 * deletion. If one of them differs, or if this is a dry run, everything is rolled back.
 */

import { counted } from '../../basics/counted.ts'
import type { Config } from '../../config/config.ts'
import { requireNothingRuns } from '../../control-plane/guards.ts'
import type { ServiceContext } from '../../control-plane/services.ts'
import { tablesOf } from '../../control-plane/storage/storage.ts'
import type { Database } from '../../database/database.ts'
import { messageOf, UserError } from '../../errors.ts'
import { differences, proveMetrics } from './metric-proof.ts'
import { deleteOldRuns } from './old-runs.ts'
import { emptyOldPayloads, type RemovedRows } from './raw-payloads.ts'

/** 0 means that data is kept for ever. */
type KeptDays = Readonly<Pick<Config, 'rawRetentionDays' | 'runRetentionDays'>>
interface RemovedLayer {
  readonly layer: 'raw' | 'runs'
  /** Older data is deleted. */
  readonly before: Date
  /** Bytes of runs are estimates. */
  readonly tables: readonly RemovedRows[]
}
export interface RetentionReport {
  readonly layers: readonly RemovedLayer[]
  /** The number of metrics that were compared. */
  readonly metrics: number
  /** Metrics that the deletion would change. If there are any, nothing is deleted. */
  readonly changed: readonly string[]
}

type RetentionContext = Pick<ServiceContext, 'database' | 'plugins'>

const DAY_MS = 86_400_000
class Undone extends Error {}

export async function retain(
  context: RetentionContext,
  days: KeptDays,
  { isDry, now = new Date() }: { readonly isDry: boolean; readonly now?: Date },
): Promise<RetentionReport> {
  const { database } = context
  const sizes = await rowSizes(context)
  let report: RetentionReport = { layers: [], metrics: 0, changed: [] }
  await database
    .transaction(async (inside) => {
      // Data that a run is about to read must not be deleted meanwhile.
      await requireNothingRuns(inside.kysely)
      const own = { ...context, database: inside }
      const before = await proveMetrics(own, now)
      const layers = await letGo(own, days, now, sizes)
      const changed = differences(before, await proveMetrics(own, now))
      report = { layers, metrics: before.size, changed }
      if (isDry || changed.length > 0) throw new Undone()
    })
    .catch((error) => {
      if (!(error instanceof Undone)) throw error
    })
  return report
}

async function letGo(
  context: RetentionContext,
  { rawRetentionDays, runRetentionDays }: KeptDays,
  now: Date,
  bytesPerRow: (table: string) => number,
): Promise<RemovedLayer[]> {
  const limit = (days: number) => new Date(now.getTime() - days * DAY_MS)
  const layers: RemovedLayer[] = []
  if (rawRetentionDays > 0) {
    const before = limit(rawRetentionDays)
    layers.push({ layer: 'raw', before, tables: await emptyOldPayloads(context, before) })
  }
  if (runRetentionDays > 0) {
    const before = limit(runRetentionDays)
    const tables = await deleteOldRuns(context.database, before)
    const sized = tables.map((each) => ({ ...each, bytes: Math.round(each.rows * bytesPerRow(each.table)) }))
    layers.push({ layer: 'runs', before, tables: sized })
  }
  return layers
}

async function rowSizes(context: RetentionContext): Promise<(table: string) => number> {
  const known = new Map((await tablesOf(context)).map((table) => [table.name, table]))
  return (name) => {
    const { bytes = 0, records = 0 } = known.get(name) ?? {}
    return records > 0 ? bytes / records : 0
  }
}

export const isAnyKept = ({ rawRetentionDays, runRetentionDays }: KeptDays): boolean =>
  rawRetentionDays > 0 || runRetentionDays > 0

/** Deletes old data on a server once a day, on one server at a time. It is postponed while a run is active. */
export function startRetention(
  context: RetentionContext & Pick<ServiceContext, 'log'>,
  days: KeptDays,
): { stop(): void } {
  if (!isAnyKept(days)) return { stop() {} }
  const { log, database } = context
  const clean = async () => {
    try {
      const { layers, changed } = await aloneOn(database, () => retain(context, days, { isDry: false }))
      if (changed.length > 0) return log.error(`nothing was let go: it would change ${changed.slice(0, 5).join(', ')}`)
      const rows = layers.flatMap(({ tables }) => tables).reduce((sum, each) => sum + each.rows, 0)
      if (rows > 0) log.info(`let go what is older than it is kept: ${counted(rows, 'row')}`)
    } catch (error) {
      const level = error instanceof UserError ? 'info' : 'warn'
      log[level](`old data was not let go, which is tried again tomorrow: ${messageOf(error)}`)
    }
  }
  void clean()
  const timer = setInterval(clean, DAY_MS)
  return { stop: () => clearInterval(timer) }
}

const aloneOn = <Result>(database: Database, body: () => Promise<Result>) => database.locked('retention', body)
