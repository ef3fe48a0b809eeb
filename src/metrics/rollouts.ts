/** How statements count a rollout that several rows tell of: by the row that stands for it. */
import { sql } from 'kysely'
import { rollouts } from '../domain/rollouts.ts'
import type { Sql } from './calculate/calculation.ts'
import type { Expressed } from './metric.ts'
import type { Policy } from './policy.ts'

/** Whose deployments are counted, and how. */
export interface Counting {
  readonly project: Expressed<string>
  readonly policy: Pick<Policy, 'rollouts'>
}

const TABLE = sql.table(rollouts.name)

/** Of rows of the table: whether the policy leaves the deployment out, for another stands for its rollout. */
const isLeftOut = ({ policy }: Counting, alias: string): Sql =>
  policy.rollouts === 'once'
    ? sql`${sql.ref(`${alias}.rollout_id`)} <> ${sql.ref(`${alias}.deployment_id`)}`
    : sql`not ${sql.ref(`${alias}.is_counted`)}`

const countsRows = ({ policy }: Counting) => policy.rollouts === 'every-row'

/** Whether another row stands for the rollout that this one tells of. */
export const isJoined = (counting: Counting, deployment: Sql): Sql =>
  countsRows(counting)
    ? sql`1 = 0`
    : sql`exists (select 1 from ${TABLE} rollout where rollout.project_name = ${counting.project}
        and rollout.deployment_id = ${deployment} and ${isLeftOut(counting, 'rollout')})`

/** What holds for rows that stand for their rollout. */
export const stands = (counting: Counting, deployment: Sql): Sql =>
  countsRows(counting) ? sql`1 = 1` : sql`not ${isJoined(counting, deployment)}`

/**
 * Of the deployments of one plugin, whatever project they belong to: leaves out those for which another of the plugin
 * stands, in the projects that count them so. What another tool tells of the rollout leaves the row as it is.
 */
export function standsWithin(plugin: string, deployment: Sql): Sql {
  const own = sql`from ${TABLE} rollout where rollout.deployment_id = ${deployment} and`
  return sql`(not exists (select 1 ${own} not rollout.is_counted and rollout.rollout_id like ${sql.lit(`${plugin}:%`)})
    or exists (select 1 ${own} rollout.is_counted))`
}

/** Ids of deployments that stand for a rollout of which another row, `kin`, fulfils a condition. */
export const standingForKin = (counting: Counting, condition: Sql): Sql | null =>
  countsRows(counting)
    ? null
    : sql`select rollout.rollout_id from ${TABLE} rollout
        inner join cicd_deployment_commits kin on kin.cicd_deployment_id = rollout.deployment_id
        where rollout.project_name = ${counting.project} and ${isLeftOut(counting, 'rollout')} and ${condition}`

/** By which deployment changes came, and when, of a row that perhaps another stands for. */
export interface Arrival {
  /** To be put after the tables that the deployment is taken from; `rolled` is there if another stands for it. */
  readonly join: Sql
  /** What the row itself says, or something else if another stands for it. */
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
