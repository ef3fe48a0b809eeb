/** Makes the schema of the database match the code. Data is never dropped or narrowed, and columns that users added stay. */

import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { UserError } from '../errors.ts'
import type { Database } from './database.ts'
import { createIndex, createWhole, indexesOf, type LiveTable, WIDENING } from './dialect.ts'
import { knowing } from './kysely.ts'
import { MIGRATIONS } from './migrations.ts'
import { FIRST_LISTED, HASHES } from './schema-versions.ts'
import { type AnyTable, type Column, defineTable, integer, key, now, string } from './table.ts'

/** The newest version that this program knows. */
export const codeVersion: number = FIRST_LISTED + HASHES.length - 1
export const codeHash: string = HASHES.at(-1) ?? ''

export const schemaVersions = defineTable(
  '_weir_schema_versions',
  { version: key(integer()), hash: string(64), created_at: now() },
  { meaning: 'Versions of the schema that this database has had; the highest is in force.' },
)

/** `inspect` may refuse the database by throwing before anything is written. */
export async function migrate(
  database: Database,
  tables: readonly AnyTable[],
  inspect: (live: ReadonlyMap<string, LiveTable>) => Promise<void> = async () => {},
): Promise<void> {
  try {
    await database.locked('migrate', async () => {
      const live = await database.describe()
      await inspect(live)
      const stored = await storedVersion(database, live)
      requireKnown(stored)
      await untilMade(database, live, async (current) => {
        await applyStatements(database, statementsFor(database, [schemaVersions, ...tables], current))
        for (const table of tables) if (table.isAppendOnly) await refuseChanges(database, table)
      })
      for (const migration of stored.version === 0 ? [] : MIGRATIONS) {
        if (migration.version > stored.version) await migration.run(database, live)
      }
      if (stored.version < codeVersion) {
        const row = { version: codeVersion, hash: codeHash, created_at: new Date() }
        await knowing(database.kysely, schemaVersions).insertInto(schemaVersions.name).values(row).execute()
      }
    })
  } catch (error) {
    throw database.explain(error) ?? error
  }
}

const MOST_TRIES = 5
const PAUSE_MS = 500

/**
 * A server finishes a statement even if its process was killed, so the next process may find that a change exists already.
 * Then the missing changes are determined again.
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

interface StoredVersion {
  /** 0 when the database is new. */
  readonly version: number
  /** Empty before versions were listed. */
  readonly hash: string
}

async function storedVersion({ kysely }: Database, live: ReadonlyMap<string, LiveTable>): Promise<StoredVersion> {
  const table = live.get(schemaVersions.name)
  const hash = table?.columns.has('hash') ? sql`coalesce(hash, '')` : sql`''`
  const { rows } = table
    ? await sql<StoredVersion>`select version, ${hash} as hash from ${sql.table(schemaVersions.name)}
        order by version desc limit 1`.execute(kysely)
    : { rows: [] }
  return rows[0] ?? { version: 0, hash: '' }
}

/** Refuses a newer schema. Two programs may have the same version number with different tables, so the hash is compared too. */
function requireKnown({ version, hash }: StoredVersion): void {
  const isKnown = hash === '' ? version < FIRST_LISTED : version <= codeVersion && HASHES.includes(hash)
  if (isKnown) return
  const named = (number: number, of: string) => `${number}${of && ` (${of.slice(0, 8)})`}`
  throw new UserError(
    `This database has schema version ${named(version, hash)}, made by a newer Weir; this one knows ${named(codeVersion, codeHash)}. ` +
      'Install the newer Weir again, or restore a backup from before the update into an empty database.',
  )
}

/** The statements that change the live schema to the defined one; none when they match. */
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

/**
 * Creates the triggers of an append-only table. On a server with a binary log not every user may do that; then only Weir's own
 * code keeps the rule.
 */
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
