/** Items hold ids of repositories and accounts; people know them by their names. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { Sql } from './calculate/calculation.ts'
import type { Item } from './metric.ts'

export interface NamedItem extends Item {
  readonly repositoryName: string | null
  readonly accountName: string | null
}

const NAMES = {
  repos: sql`name`,
  accounts: sql`coalesce(nullif(full_name, ''), user_name)`,
} satisfies Record<string, Sql>

export async function withNames(database: Database, items: readonly Item[]): Promise<NamedItem[]> {
  const repositories = await namesOf(
    database,
    'repos',
    items.map(({ repository }) => repository),
  )
  const people = await namesOf(
    database,
    'accounts',
    items.map(({ account }) => account),
  )
  return items.map((item) => ({
    ...item,
    repositoryName: repositories.get(item.repository ?? '') ?? null,
    accountName: people.get(item.account ?? '') ?? null,
  }))
}

async function namesOf(
  { kysely }: Database,
  table: keyof typeof NAMES,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string, string>> {
  const asked = [...new Set(ids)].filter((id) => id !== null && id !== '')
  if (asked.length === 0) return new Map()
  const { rows } = await sql<{ id: string; name: string | null }>`select id, ${NAMES[table]} as name
    from ${sql.table(table)} where id in (${sql.join(asked)})`.execute(kysely)
  return new Map(rows.flatMap(({ id, name }) => (name ? [[id, name] as const] : [])))
}
