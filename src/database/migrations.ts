/**
 * Migration steps that a definition cannot express, such as moving data between columns of system tables. Each one may be
 * interrupted and run again.
 */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import { type LiveTable, nameOfIndex } from './dialect.ts'

interface Migration {
  /** Runs on databases with a version before this one. */
  readonly version: number
  readonly run: (database: Database, live: ReadonlyMap<string, LiveTable>) => Promise<void>
}

/**
 * Only append to this list. The version of a new migration is the one after the last of `schema-versions.ts`. Then run
 * `npm run schema-version`.
 */
export const MIGRATIONS: readonly Migration[] = [
  { version: 2, run: plansIntoTheirOwnTable },
  { version: 3, run: sameNamesInTwoConnections },
  { version: 4, run: projectsCountedByRows },
  { version: 5, run: abortedSwitches },
]

/** Moves plans out of the rows that every read of a queue or list loads. */
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
      // Moves one plan at a time, since plans may be large. An interruption leaves none in both places.
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

/** Formerly the name of a scope config had to be unique across all connections of a plugin. Drops that index. */
async function sameNamesInTwoConnections({ dialect, kysely }: Database, live: ReadonlyMap<string, LiveTable>) {
  for (const [table, { indexes }] of live) {
    if (!/^_tool_.*_scope_configs$/.test(table) || !indexes.has('name')) continue
    await sql.raw(dialect.dropIndex(table, nameOfIndex(table, 'name'))).execute(kysely)
  }
}

/** Projects whose numbers change because rollouts are counted are noted, so that users are told once (`noteChangedNumbers`). */
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

/** Corrects aborted traffic switches, which were marked as finished, as if all traffic were on the other side. */
async function abortedSwitches({ kysely }: Database, live: ReadonlyMap<string, LiveTable>) {
  if (!live.has('_weir_traffic_switches')) return
  await sql`update _weir_traffic_switches set state = 'aborted' where state = 'cleaned-up' and id in (
    select switch_id from _weir_traffic_journal where kind = 'state' and action = 'abort' and effect = 'cleaned-up')`.execute(
    kysely,
  )
}
