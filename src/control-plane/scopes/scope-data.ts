/** Deletes everything that was collected for a scope: raw records, tool and domain rows, and the saved state of subtasks. */

import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import type { AnyTable } from '../../database/table.ts'
import { retrying } from '../../database/write.ts'
import { domainTables } from '../../domain/index.ts'
import { descendantsOf } from '../../plugin-kit/raw/descendants.ts'
import { quarantine } from '../../plugin-kit/raw/quarantine.ts'
import { removeRecords } from '../../plugin-kit/raw/raw-mirror.ts'
import { isRawTable, rawTable } from '../../plugin-kit/raw/raw-table.ts'
import { receipts } from '../../plugin-kit/raw/receipts.ts'
import type { Entity } from '../../plugin-kit/spec/entity.ts'
import type { Plugin, PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { isOfFamily, pluginsOfFamily } from '../../plugin-kit/task/family.ts'
import { forgetScope } from '../../plugin-kit/task/forget-scope.ts'
import { handOverReferred, sweepFollowers, sweepReferred } from '../../plugin-kit/transform/sweep.ts'

/** The params that mark the rows of a scope. */
export const scopeParams = ({ scope }: PluginSpec, connectionId: number, row: unknown): string =>
  JSON.stringify(scope.params(connectionId, row))

export async function deleteScopeData(
  database: Database,
  plugins: readonly Plugin[],
  source: PluginSpec,
  connectionId: number,
  row: unknown,
): Promise<void> {
  const params = scopeParams(source, connectionId, row)
  // Done first, so that the next run replaces whatever a crash leaves undeleted.
  await forgetScope(database, source, params)
  const own = pluginsOfFamily(plugins, source.name)
  const specs = own.flatMap((plugin) => plugin.source ?? [])
  for (const spec of specs) await deleteRecords(database, spec, params)
  const isOwn = isOfFamily(source, '_raw_data_table')
  const run = (statement: ReturnType<typeof sql>) => retrying(database, () => statement.execute(database.kysely))

  const shared = new Set<AnyTable>(domainTables)
  const tables = new Set([...domainTables, ...own.flatMap((plugin) => plugin.tables)])
  tables.delete(source.scope.table)
  for (const table of specs.flatMap(keptByReference)) tables.delete(table)
  for (const table of tables) {
    const from = sql`delete from ${sql.table(table.name)}`
    if (isRawTable(table.name)) await run(sql`${from} where params = ${params}`)
    else if (table.origin < 0) continue
    else if (shared.has(table)) await run(sql`${from} where _raw_data_params = ${params} and ${isOwn}`)
    else await run(sql`${from} where _raw_data_params = ${params}`)
  }
  for (const spec of specs) await deleteUnreferred(database, spec, connectionId, params)
  const names = sql.join(own.map(({ name }) => name))
  for (const { name } of [quarantine, receipts]) {
    await run(sql`delete from ${sql.table(name)} where params = ${params} and plugin in (${names})`)
  }
}

/** Removes the raw records of the scope. Records that other scopes have too are kept for those. */
async function deleteRecords(database: Database, spec: PluginSpec, params: string): Promise<void> {
  for (const entity of spec.entities) {
    if (!entity.spec.raw) continue
    const place = { database, raw: rawTable(entity.spec.raw), params }
    await removeRecords(place, descendantsOf(spec, entity), sql`1 = 1`)
  }
}

/** Tables whose rows are kept as long as another row refers to them, and the tables that are converted from them. */
const keptByReference = ({ entities, referred = [] }: PluginSpec): AnyTable[] =>
  referred.flatMap(({ table }) => [
    table,
    ...followersOf(entities, table).flatMap(({ spec }) => spec.convert?.to ?? []),
  ])

const followersOf = (entities: readonly Entity[], table: AnyTable): Entity[] =>
  entities.filter((entity) => entity.table === table && entity.spec.convert)

async function deleteUnreferred(
  database: Database,
  spec: PluginSpec,
  connectionId: number,
  params: string,
): Promise<void> {
  for (const referred of spec.referred ?? []) {
    await retrying(database, () => handOverReferred(database, spec, params, referred))
    await retrying(database, () => sweepReferred(database, spec, connectionId, referred))
    for (const follower of followersOf(spec.entities, referred.table)) {
      await sweepFollowers(database, connectionId, follower)
    }
  }
}
