/** Finds repositories that git could not read, and explains in the same words everywhere why their pull requests have no lead time. */
import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { mapping } from '../calculate/calculation.ts'

/**
 * The condition for a repository `r` that has merged pull requests and no commits. Git could not be read, so nothing tells which
 * deployment brought them. Repositories without an address are excluded, because they could never be cloned.
 */
export const isWithoutHistory = sql`coalesce(r.url, '') <> ''
  and exists (select 1 from pull_requests pr where pr.base_repo_id = r.id and pr.merged_date is not null)
  and not exists (select 1 from repo_commits c where c.repo_id = r.id)`

export async function withoutHistory({ kysely }: Database, project: string): Promise<string[]> {
  const repo = mapping('repo', 'repos', project)
  const { rows } = await sql<{ name: string }>`select r.name from ${repo.from} inner join repos r on r.id = repo.row_id
    where ${repo.where} and ${isWithoutHistory} order by r.name`.execute(kysely)
  return rows.map(({ name }) => name)
}
