/** Keeps the progress of an import together with what it wrote: whatever ends it, it continues after the last batch. */
import { type Actor, recordChange } from '../control-plane/audit/record.ts'
import { findRow, insertRow, selectRows, updateRows } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { UserError } from '../errors.ts'
import { importedTables, imports } from '../system/state.ts'
import type { Findings } from './layout.ts'
import type { ImportRow } from './recognise.ts'
import type { MissingSecret } from './rules.ts'
import type { Values } from './values.ts'

export const IMPORT = { id: 'devlake' } as const

export interface Begun {
  /** Host and database, without user and password. */
  readonly origin: string
  readonly is_in_place: boolean
  readonly with_secrets: boolean
}

export interface Progress {
  records: number
  lastKey: Values | null
  isFinished: boolean
  readonly reasons: Map<string, number>
  readonly missing: MissingSecret[]
}

export const originOf = (url: string): string => {
  const { host, pathname } = new URL(url)
  return `${host}${pathname}`
}

/** When an import continues, its host and database must be the same, and so must the choice of what it leaves behind. */
export function requireSame(stored: ImportRow, begun: Begun): void {
  const isSame =
    stored.origin === begun.origin &&
    Boolean(stored.is_in_place) === begun.is_in_place &&
    Boolean(stored.with_secrets) === begun.with_secrets
  if (isSame) return
  const how = stored.is_in_place ? '--in-place' : `--from …${stored.origin}`
  const secrets = stored.with_secrets ? '' : ' --without-secrets'
  throw new UserError(
    `An import with ${how}${secrets} was begun in this database: run it again in the same way, or set DB_URL to an empty database.`,
  )
}

export const beginImport = ({ kysely }: Database, begun: Begun, findings: Findings): Promise<number> =>
  insertRow(kysely, imports, { ...IMPORT, ...begun, findings })

export const finishImport = (database: Database, actor: Actor, { origin, is_in_place }: Begun): Promise<void> =>
  database.transaction(async ({ kysely }) => {
    await updateRows(kysely, imports, IMPORT, { finished_at: new Date() })
    const action = is_in_place ? 'adopt' : 'create'
    await recordChange(kysely, actor, { action, subject: 'DevLake database', key: origin, before: null, after: null })
  })

interface StoredNotes {
  readonly reasons: readonly { readonly reason: string; readonly rows: number }[]
  readonly missing: readonly MissingSecret[]
}

export async function progressOf({ kysely }: Database, table_name: string): Promise<Progress> {
  const row = await findRow(kysely, importedTables, { table_name })
  const notes = row?.left_out as StoredNotes | undefined
  return {
    records: row?.records ?? 0,
    lastKey: row?.last_key ?? null,
    isFinished: row?.is_finished ?? false,
    reasons: new Map(notes?.reasons.map(({ reason, rows }) => [reason, rows])),
    missing: [...(notes?.missing ?? [])],
  }
}

export async function saveProgress({ kysely }: Database, table_name: string, progress: Progress): Promise<void> {
  const { records, lastKey, isFinished, reasons, missing } = progress
  const left_out: StoredNotes = { reasons: [...reasons].map(([reason, rows]) => ({ reason, rows })), missing }
  const values = { records, last_key: lastKey, is_finished: isFinished, left_out }
  const changed = await updateRows(kysely, importedTables, { table_name }, values)
  if (changed === 0) await insertRow(kysely, importedTables, { table_name, ...values })
}

export async function readProgress({ kysely }: Database) {
  const rows = await selectRows(kysely, importedTables, (query) => query.orderBy('table_name'))
  return rows.map(({ table_name, records, left_out }) => ({ table: table_name, records, ...(left_out as StoredNotes) }))
}
