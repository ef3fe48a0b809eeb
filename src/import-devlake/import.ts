/** Copies a DevLake database into an empty one of Weir. The source is only read, as of one moment. */

import { sql } from 'kysely'
import type { Actor } from '../control-plane/audit/record.ts'
import { findRow } from '../control-plane/store.ts'
import type { Database } from '../database/database.ts'
import { statementsFor } from '../database/migrate.ts'
import type { AnyTable } from '../database/table.ts'
import { UserError } from '../errors.ts'
import type { Plugin } from '../plugin-kit/spec/plugin.ts'
import type { Secrets } from '../secrets/secrets.ts'
import { imports } from '../system/state.ts'
import { openOldSecrets, type SecretChoice } from './check-secret.ts'
import { useOldDigests } from './digests.ts'
import { requireEmpty, requireNoServer } from './empty-target.ts'
import { type Begun, beginImport, finishImport, IMPORT, originOf, requireSame } from './journal.ts'
import { findLeftOvers, neededOf, sharedTables } from './layout.ts'
import { copyRows, moveTable } from './move-table.ts'
import { type ImportRow, isDevLake, type Live, requireKnownVersion } from './recognise.ts'
import { type ImportReport, reportOf } from './report.ts'
import { rulesOf } from './rules.ts'

interface ImportOptions {
  readonly target: Database
  /** Secrets of the target. */
  readonly secrets: Secrets
  readonly plugins: readonly Plugin[]
  readonly choice: SecretChoice
  readonly actor: Actor
  readonly signal?: AbortSignal
  readonly onProgress?: (table: string, records: number) => void
}

/** Large tables take hours to read. */
const LONGEST_SECONDS = 7 * 86_400

export const importDevLake = (source: Database, url: string, options: ImportOptions): Promise<ImportReport> =>
  options.target.locked('import', async () => {
    const { target, plugins, choice } = options
    const begun: Begun = { origin: originOf(url), is_in_place: false, with_secrets: !choice.withoutSecrets }
    const stored = await findRow(target.kysely, imports, IMPORT)
    if (stored) requireSame(stored, begun)
    if (!stored?.finished_at) {
      await requireNoServer(target)
      if (!stored) await requireEmpty(target)
      await source.reading(LONGEST_SECONDS, async (reading) => {
        const live = await requireDevLake(reading, plugins)
        const old = await openOldSecrets(reading, live, plugins, choice)
        if (!stored) await beginImport(target, begun, await findLeftOvers(reading, live))
        await copyAll(reading, live, options, old)
      })
      await finishImport(target, options.actor, begun)
    }
    return reportOf(target, (await findRow(target.kysely, imports, IMPORT)) as ImportRow)
  })

export async function requireDevLake(database: Database, plugins: readonly Plugin[]): Promise<Live> {
  const live = await database.describe()
  if (!(await isDevLake(database, live))) {
    throw new UserError('This is not a database of DevLake: it has no list of migrations. Nothing was changed.')
  }
  const owners = plugins.map(({ name }) => name)
  await requireKnownVersion(database, live, owners, neededOf(live))
  return live
}

async function copyAll(
  source: Database,
  live: Live,
  { target, secrets, plugins, choice, signal, onProgress }: ImportOptions,
  old: Awaited<ReturnType<typeof openOldSecrets>>,
): Promise<void> {
  if (old) await useOldDigests(target, secrets, choice.secret as string)
  const shared = sharedTables(live)
  await addColumns(
    target,
    shared.map(({ table }) => table),
  )
  const rules = rulesOf({ plugins, old, secrets })
  const sink = copyRows(new Date())
  for (const each of shared) await moveTable({ source, target, secrets, rules, sink, signal, onProgress }, each)
}

/** Adds the columns that users added to tables of DevLake. */
async function addColumns(target: Database, tables: readonly AnyTable[]): Promise<void> {
  for (const statement of statementsFor(target, tables, await target.describe())) {
    await sql.raw(statement).execute(target.kysely)
  }
}
