/** Adds the names of repositories and accounts to items, which hold only their ids. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import { among, readByKeys } from '../database/pieces.ts'
import type { Sql } from './calculate/calculation.ts'
import type { Item } from './metric.ts'

interface NamedItem extends Item {
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
  const rows = await readByKeys(asked, async (piece) => {
    const some = sql<{ id: string; name: string | null }>`select id, ${NAMES[table]} as name
      from ${sql.table(table)} where ${among(sql`id`, piece)}`
    return (await some.execute(kysely)).rows
  })
  return new Map(rows.flatMap(({ id, name }) => (name ? [[id, name] as const] : [])))
}
