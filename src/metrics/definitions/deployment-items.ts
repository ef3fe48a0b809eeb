import { sql } from 'kysely'
import type { Sql } from '../calculate/calculation.ts'
import { firstOf, isOfOtherTime, type MetricQuery, outside, selectItems } from '../metric.ts'
import { deploymentsOf } from '../sources.ts'

interface DeploymentItemOptions {
  /** Deployments (`project`, `id`) with the value 1; all others get 0. Without `marks`, all get `value`. */
  readonly marks?: Sql
  /** The value of every deployment if there are no `marks`; by default 1. */
  readonly value?: Sql
}

/** Selects the deployments of the project. */
export function deploymentItems(query: MetricQuery, { marks, value = sql`1` }: DeploymentItemOptions = {}): Sql {
  return selectItems(query.dialect, {
    kind: 'deployment',
    project: sql`happened.project`,
    id: sql`happened.id`,
    at: sql`coalesce(happened.at, happened.ended)`,
    value: marks ? sql`happened.marked` : value,
    reason: firstOf(
      ['other_time', sql`happened.fits = 0 and ${isOfOtherTime(sql`happened.ended`, query)}`],
      ['not_successful', sql`happened.succeeded = 0`],
      ['other_environment', sql`happened.fits = 0`],
      ['not_finished', sql`happened.at is null`],
      ['outside_time_range', outside(sql`happened.at`, query)],
      ['same_rollout', sql`happened.joined = 1`],
    ),
    title: sql`happened.title`,
    url: sql`happened.url`,
    repository: sql`happened.repository`,
    account: sql`''`,
    origin: 'happened',
    from: sql`from (${deploymentsOf(query, marks)}) happened where 1 = 1`,
  })
}
