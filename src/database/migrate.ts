/** Makes the database match the code. No data is ever dropped or narrowed; columns that users added stay. */

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { UserError } from '../errors.ts'
import type { Database } from './database.ts'
import { createIndex, createWhole, indexesOf, type LiveTable, nameOfIndex, WIDENING } from './dialect.ts'
import type { AnyTable } from './table.ts'
import { type Column, defineTable, integer, key, now } from './table.ts'

/** One step that a definition cannot express, such as moving data between columns of system tables. */
export type Migration = (database: Database, live: ReadonlyMap<string, LiveTable>) => Promise<void>
/** Append only: a database remembers how many of these it has seen. */
const MIGRATIONS: readonly Migration[] = [
  ...[plansIntoTheirOwnTable, sameNamesInTwoConnections, projectsCountedByRows],
  abortedSwitches,
]
export const codeVersion: number = MIGRATIONS.length + 1

export const schemaVersions = defineTable(
  '_weir_schema_versions',
  { version: key(integer()), created_at: now() },
  { meaning: 'Versions of the schema that this database has had; the highest is in force.' },
)

/** `inspect` may refuse the database by throwing: nothing is written before. */
export async function migrate(
  database: Database,
  tables: readonly AnyTable[],
  inspect: (live: ReadonlyMap<string, LiveTable>) => Promise<void> = async () => {},
): Promise<void> {
  try {
    await database.locked('migrate', async () => {
      const live = await database.describe()
      await inspect(live)
      const version = await versionOf(database, live)
      if (version > codeVersion) {
        throw new UserError(
          `This database has schema version ${version}, made by a newer Weir; this one knows ${codeVersion}. ` +
            'Install the newer Weir again, or restore a backup from before the update.',
        )
      }
      await untilMade(database, live, async (current) => {
        await applyStatements(database, statementsFor(database, [schemaVersions, ...tables], current))
        for (const table of tables) if (table.isAppendOnly) await refuseChanges(database, table)
      })
      for (const migration of version === 0 ? [] : MIGRATIONS.slice(version - 1)) await migration(database, live)
      if (version < codeVersion) {
        await database.kysely
          .insertInto(schemaVersions.name)
          .values({ version: codeVersion, created_at: new Date() })
          .execute()
      }
    })
  } catch (error) {
    throw database.explain(error) ?? error
  }
}

const MOST_TRIES = 5
const PAUSE_MS = 500

/**
 * A server goes on with a statement whose process was killed, and the next process meets what it has made meanwhile: then
 * what is still missing is looked for again.
 */
async function untilMade(
  database: Database,
  live: ReadonlyMap<string, LiveTable>,
  make: (live: ReadonlyMap<string, LiveTable>) => Promise<void>,
  triesLeft = MOST_TRIES,
): Promise<void> {
  try {
    await make(live)
  } catch (error) {
    if (triesLeft <= 1 || !database.dialect.isDoneAlready(error)) throw error
    await sleep(PAUSE_MS)
    await untilMade(database, await database.describe(), make, triesLeft - 1)
  }
}

async function versionOf({ kysely }: Database, live: ReadonlyMap<string, LiveTable>): Promise<number> {
  if (!live.has(schemaVersions.name)) return 0
  const { rows } = await sql<{
    version: number | null
  }>`select max(version) as version from ${sql.id(schemaVersions.name)}`.execute(kysely)
  return rows[0]?.version ?? 0
}

/** The statements that take the live schema to the defined one; none when they match. */
export function statementsFor(
  { dialect }: Pick<Database, 'dialect'>,
  tables: readonly AnyTable[],
  live: ReadonlyMap<string, LiveTable>,
): string[] {
  return tables.flatMap((table) => {
    const existing = live.get(table.name)
    if (!existing) return createWhole(dialect, table)
    const indexes = indexesOf(table).filter(({ columns }) => !existing.indexes.has(columns.join(',')))
    const newIndexes = indexes.map((index) => createIndex(dialect, table, index))
    const columns = table.names.flatMap((name) => {
      const column = table.columns[name] as Column
      const current = existing.columns.get(name)
      if (!current)
        return [
          `alter table ${dialect.quote(table.name)} add column ${dialect.quote(name)} ${dialect.columnType(column, table)}`,
        ]
      return isWider(column, current) ? [dialect.widenColumn(table, name, existing.indexes.has(name))] : []
    })
    return [...columns, ...newIndexes]
  })
}

function isWider(
  { kind, size = 0 }: Column,
  current: { readonly type: string; readonly size: number | null },
): boolean {
  if (kind === 'string' && current.type === 'string') return size > (current.size ?? Number.POSITIVE_INFINITY)
  const ladder = WIDENING.find((kinds) => kinds.includes(kind) && kinds.includes(current.type))
  return ladder !== undefined && ladder.indexOf(kind) > ladder.indexOf(current.type)
}

type Executor = Pick<Database, 'kysely' | 'dialect'>

async function applyStatements({ kysely, dialect }: Executor, statements: readonly string[]): Promise<void> {
  const { statementsAtOnce } = dialect
  for (let first = 0; first < statements.length; first += statementsAtOnce) {
    const some = statements.slice(first, first + statementsAtOnce)
    await sql.raw(some.join(';\n')).execute(kysely)
  }
}

/** They stood in the rows that every look at a queue or a list reads. */
async function plansIntoTheirOwnTable(database: Database): Promise<void> {
  const moved: readonly [subject: string, table: string, column: string, field: string][] = [
    ['pipeline', '_devlake_pipelines', 'plan', 'plan'],
    ['blueprint', '_devlake_blueprints', 'plan', 'plan'],
    ['blueprint', '_devlake_blueprints', 'before_plan', 'beforePlan'],
    ['blueprint', '_devlake_blueprints', 'after_plan', 'afterPlan'],
  ]
  for (const [subject, table, column, field] of moved) {
    const { rows: waiting } = await sql<{ id: number }>`select id from ${sql.table(table)}
      where ${sql.ref(column)} is not null`.execute(database.kysely)
    for (const { id } of waiting) {
      // One at a time, which may be large. Killed in between, none is in both places.
      await database.transaction(async ({ kysely }) => {
        const { rows } = await sql<{ content: unknown }>`select ${sql.ref(column)} as content from ${sql.table(table)}
          where id = ${id}`.execute(kysely)
        const content = String(rows[0]?.content ?? '')
        const stamps = { created_at: new Date(), updated_at: new Date() }
        const row = { subject, subject_id: id, field, characters: content.length, content, ...stamps }
        if (content !== '') await kysely.insertInto('_weir_plans').values(row).execute()
        await sql`update ${sql.table(table)} set ${sql.ref(column)} = null where id = ${id}`.execute(kysely)
      })
    }
  }
}

/** Not every user of a server with a binary log may make triggers: without them only Weir itself keeps to it. */
async function refuseChanges({ kysely, dialect }: Database, table: AnyTable): Promise<void> {
  const { rows } = await sql`select trigger_name from information_schema.triggers
    where event_object_table = ${table.name} and trigger_schema = ${sql.raw(dialect.appendOnly.schema)}`.execute(kysely)
  if (rows.length > 0) return
  try {
    await applyStatements({ kysely, dialect }, dialect.appendOnly.statements(table))
  } catch (error) {
    if (!dialect.appendOnly.isRefused(error)) throw error
  }
}

/** The name of a scope config was taken for all connections of a plugin. */
async function sameNamesInTwoConnections({ dialect, kysely }: Database, live: ReadonlyMap<string, LiveTable>) {
  for (const [table, { indexes }] of live) {
    if (!/^_tool_.*_scope_configs$/.test(table) || !indexes.has('name')) continue
    await sql.raw(dialect.dropIndex(table, nameOfIndex(table, 'name'))).execute(kysely)
  }
}

/** People have seen their numbers: those that counting rollouts changes are told once (`noteChangedNumbers`). */
async function projectsCountedByRows({ kysely }: Database, live: ReadonlyMap<string, LiveTable>) {
  if (!live.has('project_mapping')) return
  const { rows } = await sql<{ name: string }>`select distinct m.project_name as name from project_mapping m
    where m.project_name <> '' and m.${sql.id('table')} = 'cicd_scopes'
      and m.project_name not in (select c.project_name from _weir_number_changes c)`.execute(kysely)
  const stamps = { created_at: new Date(), updated_at: new Date() }
  for (const { name } of rows) {
    const row = { project_name: name, name: 'rollouts', reason: '', ...stamps }
    await kysely.insertInto('_weir_number_changes').values(row).execute()
  }
}

/** A switch that was given up was called finished, as if all traffic were on the other side. */
async function abortedSwitches({ kysely }: Database, live: ReadonlyMap<string, LiveTable>) {
  if (!live.has('_weir_traffic_switches')) return
  await sql`update _weir_traffic_switches set state = 'aborted' where state = 'cleaned-up' and id in (
    select switch_id from _weir_traffic_journal where kind = 'state' and action = 'abort' and effect = 'cleaned-up')`.execute(
    kysely,
  )
}
