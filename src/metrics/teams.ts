/** Teams that are large enough for numbers. */
import { sql } from 'kysely'
import type { Database } from '../database/database.ts'
import type { NoData } from './findings/no-data.ts'

/** A number of fewer people says too much of each of them. */
export const FEWEST_PEOPLE = 5

/** Ids of the teams with enough people. */
export const LARGE_TEAMS = sql`select team_id from team_users group by team_id
  having count(distinct user_id) >= ${sql.lit(FEWEST_PEOPLE)}`

export const FEW_PEOPLE: NoData = {
  because: `the team has fewer than ${FEWEST_PEOPLE} people, and Weir shows no numbers of so few`,
  remedy: 'Ask for the project or for a larger team.',
}

export async function hasFewPeople({ kysely }: Pick<Database, 'kysely'>, team: string): Promise<boolean> {
  const { rows } = await sql`select 1 from (${LARGE_TEAMS}) large where team_id = ${team}`.execute(kysely)
  return rows.length === 0
}
