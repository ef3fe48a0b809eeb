/** Turns a DevLake database into one of Weir, in place. If it is killed, the next call continues; no server starts before it is done. */

import { statSync } from 'node:fs'
import { sql } from 'kysely'
import type { Actor } from '../control-plane/audit/record.ts'
import { findRow } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { indexesOf } from '../database/dialect.ts'
import { knowing } from '../database/kysely.ts'
import { statementsFor } from '../database/migrate.ts'
import type { AnyTable, Column } from '../database/table.ts'
import { messageOf, UserError } from '../errors.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { prepareDatabase } from '../start/prepare-database.ts'
import { importedTables, imports } from '../system/state.ts'
import { openOldSecrets, type SecretChoice } from './check-secret.ts'
import { useOldDigests } from './digests.ts'
import { requireDevLake } from './import.ts'
import {
  type Begun,
  beginImport,
  finishImport,
  IMPORT,
  originOf,
  progressOf,
  requireSame,
  saveProgress,
} from './journal.ts'
import { countRows, findLeftOvers, runStates, type SharedTable, sessions, sharedTables } from './layout.ts'
import { changeRows, continueNumbers, moveTable } from './move-table.ts'
import { type ImportRow, readImport } from './recognise.ts'
import { type ImportReport, reportOf } from './report.ts'
import { rulesOf } from './rules.ts'

interface Backup {
  readonly file?: string | undefined
  readonly isPromised?: boolean | undefined
}

export interface AdoptOptions {
  readonly plugins: readonly Plugin[]
  readonly choice: SecretChoice
  readonly backup: Backup
  readonly actor: Actor
  /** Opens Weir's own key, once there are tables for it. */
  readonly openSecrets: (database: Database) => Promise<Secrets>
  readonly signal?: AbortSignal
  readonly onProgress?: (table: string, records: number) => void
}

export const adoptDevLake = (database: Database, url: string, options: AdoptOptions): Promise<ImportReport> =>
  database.locked('import', async () => {
    const { plugins, choice, backup } = options
    const begun: Begun = { origin: originOf(url), is_in_place: true, with_secrets: !choice.withoutSecrets }
    const stored = await readImport(database, await database.describe())
    if (stored) requireSame(stored, begun)
    if (!stored?.finished_at) {
      const live = await requireDevLake(database, plugins)
      const old = await openOldSecrets(database, live, plugins, choice)
      if (!stored) {
        await requireBackup(database, backup)
        const findings = await findLeftOvers(database, live)
        for (const statement of statementsFor(database, [imports, importedTables], live)) {
          await sql.raw(statement).execute(database.kysely)
        }
        await beginImport(database, begun, findings)
      }
      const shared = sharedTables(live)
      await fitTables(database, shared)
      await prepareDatabase(database, { continuesImport: true })
      const secrets = await options.openSecrets(database)
      if (old) await useOldDigests(database, secrets, choice.secret as string)
      await changeAll(database, shared, { ...options, secrets, old })
      await finishImport(database, options.actor, begun)
    }
    return reportOf(database, (await findRow(database.kysely, imports, IMPORT)) as ImportRow)
  })

/** Compares the age of the backup with the last run or change of configuration that DevLake noted. */
async function requireBackup({ kysely }: Database, { file, isPromised = false }: Backup): Promise<void> {
  if (isPromised) return
  if (file === undefined) {
    throw new UserError(
      'DevLake cannot use its database any more once Weir has adopted it. Stop DevLake and dump the database to a file, then add --backup FILE; or add --i-have-a-backup if there is one elsewhere. Nothing was changed.',
    )
  }
  const { size, mtime } = statOf(file)
  if (size === 0) throw new UserError(`The backup ${file} is empty. Nothing was changed.`)
  for (const table of ['_devlake_blueprints', '_devlake_pipelines', '_devlake_tasks']) {
    const { rows } = await sql<{ last: Date | null }>`select max(updated_at) as last from ${sql.table(table)}`.execute(
      kysely,
    )
    const last = rows[0]?.last
    if (!last || new Date(last) <= mtime) continue
    throw new UserError(
      `The backup ${file} is of ${mtime.toISOString()}, and the database was changed at ${new Date(last).toISOString()}: stop DevLake and make a new one. Nothing was changed.`,
    )
  }
}

function statOf(file: string) {
  try {
    return statSync(file)
  } catch (error) {
    throw new UserError(`The backup ${file} cannot be read: ${messageOf(error)}. Nothing was changed.`)
  }
}

/** Changes what `migrate` leaves alone: how text is compared, names that DevLake allows only once, and text that it keeps as bytes. */
async function fitTables(database: Database, shared: readonly SharedTable[]): Promise<void> {
  const { dialect, kysely } = database
  const tables = new Map(shared.map(({ table }) => [table.name, table]))
  const found = dialect.comparison && (await sql.raw<{ table_name: string }>(dialect.comparison.others).execute(kysely))
  for (const { table_name } of found?.rows ?? []) {
    if (tables.has(table_name)) await sql.raw(dialect.comparison?.convert(table_name) ?? '').execute(kysely)
  }
  const unique = await sql
    .raw<{ table_name: string; index_name: string; columns: string }>(dialect.uniqueIndexes)
    .execute(kysely)
  for (const { table_name, index_name, columns } of unique.rows) {
    const table = tables.get(table_name)
    const isOurs = table && indexesOf(table).some((each) => each.unique && each.columns.join(',') === columns)
    if (table && !isOurs) await dropIndex(database, table_name, index_name)
  }
  await completeKeys(database, tables)
  const live = await database.describe()
  for (const { table, names } of shared) {
    for (const name of names) {
      const { kind } = table.columns[name] as Column
      const type = live.get(table.name)?.columns.get(name)?.type ?? ''
      const isBytes = (kind === 'string' || kind === 'text') && /binary|blob/.test(type)
      if (isBytes) await sql.raw(dialect.widenColumn(table, name, false)).execute(kysely)
    }
  }
}

/** The database may still be dropping the index for a process that was killed. */
async function dropIndex({ dialect, kysely }: Database, table: string, index: string): Promise<void> {
  try {
    await sql.raw(dialect.dropIndex(table, index)).execute(kysely)
  } catch (error) {
    if (!dialect.isDoneAlready(error)) throw error
  }
}

/** Completes keys of DevLake that lack a column of Weir's key, such as the connection: otherwise rows of two connections would share a key. */
async function completeKeys({ dialect, kysely }: Database, tables: ReadonlyMap<string, AnyTable>): Promise<void> {
  const found = await sql
    .raw<{ table_name: string; key_name: string; columns: string }>(dialect.primaryKeys)
    .execute(kysely)
  for (const { table_name, key_name, columns } of found.rows) {
    const table = tables.get(table_name)
    const [own, theirs] = [table?.keys.map((position) => table.names[position]) ?? [], columns.split(',')]
    const isWider = own.length > theirs.length && theirs.every((name) => own.includes(name))
    if (table && isWider) await sql.raw(dialect.replaceKey(table, key_name)).execute(kysely)
  }
}

async function changeAll(
  database: Database,
  shared: readonly SharedTable[],
  {
    plugins,
    secrets,
    old,
    signal,
    onProgress,
  }: AdoptOptions & {
    readonly secrets: Secrets
    readonly old: Awaited<ReturnType<typeof openOldSecrets>>
  },
): Promise<void> {
  const rules = rulesOf({ plugins, old, secrets })
  const move = { source: database, target: database, secrets, rules, sink: changeRows, signal, onProgress }
  for (const each of shared) {
    if (rules.has(each.table.name)) await moveTable(move, each)
    else await keepTable(database, each.table)
  }
  for (const table of [...runStates, ...sessions]) {
    await knowing(database.kysely, table).deleteFrom(table.name).execute()
  }
}

/** The rows of this table fit as they are. */
async function keepTable(database: Database, table: AnyTable): Promise<void> {
  const progress = await progressOf(database, table.name)
  if (progress.isFinished) return
  await continueNumbers(database, table)
  const records = await countRows(database, table.name)
  await saveProgress(database, table.name, { ...progress, records, isFinished: true })
}
