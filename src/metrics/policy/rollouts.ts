/** How statements count a rollout that several rows report: only the row that represents it counts. */
import { sql } from 'kysely'
import { rollouts } from '../../domain/rollouts.ts'
import type { Sql } from '../calculate/calculation.ts'
import type { Expressed } from '../metric.ts'
import type { Policy } from './policy.ts'

/** The project whose deployments are counted, and the policy that says how. */
export interface Counting {
  readonly project: Expressed<string>
  readonly policy: Pick<Policy, 'rollouts'>
}

const TABLE = sql.table(rollouts.name)

/** Tells, for rows of the table, whether the policy leaves the deployment out because another row represents its rollout. */
const isLeftOut = ({ policy }: Counting, alias: string): Sql =>
  policy.rollouts === 'once'
    ? sql`${sql.ref(`${alias}.rollout_id`)} <> ${sql.ref(`${alias}.deployment_id`)}`
    : sql`not ${sql.ref(`${alias}.is_counted`)}`

const countsRows = ({ policy }: Counting) => policy.rollouts === 'every-row'

/** Tells whether the rollout of this row is represented by another row. */
export const isJoined = (counting: Counting, deployment: Sql): Sql =>
  countsRows(counting)
    ? sql`1 = 0`
    : sql`exists (select 1 from ${TABLE} rollout where rollout.project_name = ${counting.project}
        and rollout.deployment_id = ${deployment} and ${isLeftOut(counting, 'rollout')})`

/** The condition for rows that represent their rollout. */
export const stands = (counting: Counting, deployment: Sql): Sql =>
  countsRows(counting) ? sql`1 = 1` : sql`not ${isJoined(counting, deployment)}`

/**
 * For deployments of one plugin, in any project: leaves out those whose rollout is represented by another deployment of the same
 * plugin, if the project counts rollouts that way. Rows of other tools about the same rollout have no influence.
 */
export function standsWithin(plugin: string, deployment: Sql): Sql {
  const own = sql`from ${TABLE} rollout where rollout.deployment_id = ${deployment} and`
  return sql`(not exists (select 1 ${own} not rollout.is_counted and rollout.rollout_id like ${sql.lit(`${plugin}:%`)})
    or exists (select 1 ${own} rollout.is_counted))`
}

/** Returns ids of deployments that represent a rollout of which another row fulfils a condition, which names that row as the join does. */
export const standingForKin = (counting: Counting, condition: Sql): Sql | null =>
  countsRows(counting)
    ? null
    : sql`select rollout.rollout_id from ${TABLE} rollout
        inner join cicd_deployment_commits kin on kin.cicd_deployment_id = rollout.deployment_id
        where rollout.project_name = ${counting.project} and ${isLeftOut(counting, 'rollout')} and ${condition}`

/** The deployment by which changes arrived, and when, for a row whose rollout another row may represent. */
interface Arrival {
  /** The join, to be put after the tables that the deployment is taken from. `rolled` has a row if another row represents the rollout. */
  readonly join: Sql
  /** Returns `own`, or `other` if another row represents the rollout. */
  readonly or: (own: Sql, other: Sql | undefined) => Sql
}

export function arrivalOf(counting: Counting, deployment: Sql): Arrival {
  if (countsRows(counting)) return { join: sql``, or: (own) => own }
  return {
    join: sql`left join ${TABLE} rolled on rolled.project_name = ${counting.project}
      and rolled.deployment_id = ${deployment} and ${isLeftOut(counting, 'rolled')}`,
    or: (own, other) => (other ? sql`case when rolled.deployment_id is null then ${own} else ${other} end` : own),
  }
}
