/**
 * metric    a named number over items: pull requests, deployments, incidents, issues, builds
 * item      one row that might count; `reason` says why it does not, and is null when it does
 * So a value, its series, its rows and its explanation come from one statement, and always agree.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Dialect } from '../database/dialect.ts'
import type { Sql } from './calculate/calculation.ts'
import type { Policy } from './policy/policy.ts'

/** The incidents that a service report is about. */
export interface ServiceChoice {
  /** Words of `x_issue_category`, as a list or as the expression between the brackets of `in (…)`. Null: any category. */
  readonly categories: readonly string[] | RawBuilder<unknown> | null
  /** Null: any component. */
  readonly component: string | RawBuilder<unknown> | null
}

export interface MetricFilter {
  readonly project: string
  /** Both ends belong to the range. */
  readonly from: Date
  readonly to: Date
  readonly environment: string
  /** Id of a repository. */
  readonly repository?: string | undefined
  /** Id of a team. */
  readonly team?: string | undefined
  readonly policy: Policy
  /** The incidents that the service report is about, if they are not those of the policy. */
  readonly service?: ServiceChoice | undefined
  readonly reading?: Reading | undefined
}

/**
 * The three ways to read the times of pull requests. They differ in pull requests whose time is not known:
 * known             leaves them out
 * panels-merged     counts them as 0, as DevLake's panels of throughput and cycle time show those merged in the range
 * panels-deployed   counts them as 0, as DevLake's details of the lead time show those deployed in the range
 */
export const READINGS = ['known', 'panels-merged', 'panels-deployed'] as const
export type Reading = (typeof READINGS)[number]

/** A value or an expression that gives it, because dashboards have variables instead of values. */
export type Expressed<Value> = Value | Sql

export interface MetricQuery {
  readonly project: Expressed<string>
  readonly from: Expressed<Date>
  readonly to: Expressed<Date>
  readonly environment: string
  readonly repository?: Expressed<string> | undefined
  readonly team?: Expressed<string> | undefined
  readonly policy: Policy
  readonly service?: ServiceChoice | undefined
  readonly reading?: Reading | undefined
  readonly dialect: Dialect
  /** Look for more precise reasons, at the cost of more reading. */
  readonly isExplained: boolean
}

export type Unit = 'minutes' | 'seconds' | 'share' | 'count' | 'lines' | 'comments' | 'days per week'

export interface Metric {
  /** Part of URLs, so it never changes. */
  readonly name: string
  readonly title: string
  /** Says what is counted, when, and what is not. It is shown wherever the number is. */
  readonly definition: string
  readonly unit: Unit
  readonly better: 'higher' | 'lower'
  /** `ratio`: items of value 1 relative to those of value 0. */
  readonly summary: 'median' | 'mean' | 'count' | 'days' | 'ratio'
  /** The material that must exist for the metric to have a value. */
  readonly madeOf: readonly Material[]
  /** For a `ratio`: the items with value 1, and those with value 0. */
  readonly divides?: readonly [Material, Material]
  /** The kind of its items; by default the first of `madeOf`. */
  readonly counts?: Material
  /** Statement that gives `Item` columns. */
  readonly items: (query: MetricQuery) => Sql
  /** Row of the benchmark that grades it, by report. */
  readonly benchmark?: Readonly<Partial<Record<Report, string>>>
  /** Set if an explanation tells more reasons apart than the quick statement of the value. */
  readonly hasFinerReasons?: true
  /** Set if it can be read as DevLake's panels read it. */
  readonly hasReadings?: true
  /** Set if it is about the incidents of a service. */
  readonly isOfService?: true
  /** The metric to use in projects that pair incidents with deployments as the service report does. */
  readonly inServiceReport?: Metric
}
/** Ends every definition of a median and says which median is meant. */
export const LOWER_MEDIAN = ' Of an even count, the median is the lower of the two values in the middle.'

export type Material = 'deployments' | 'incidents' | 'pull requests' | 'history' | 'issues' | 'builds'
export type Report = '2021' | '2023'

export const REASONS = {
  pull_request_not_merged: 'The pull request is not merged.',
  bot_author: 'The author is a bot.',
  not_calculated: 'The lead time of the pull request has not been calculated yet.',
  no_git_history: 'The git history of its repository is not known, so nothing tells which deployment brought it.',
  no_merge_commit: 'The merge commit of the pull request is not known.',
  merge_commit_in_no_deployment: 'The merge commit lies in the range of no successful deployment of this environment.',
  only_in_first_deployment: 'Only the first deployment holds the merge commit; nothing tells how much of it is new.',
  only_in_other_environment: 'The merge commit was deployed to another environment only.',
  no_deployments: 'The project has no successful deployment to this environment.',
  outside_time_range: 'Its date lies outside the time range.',
  other_time: 'It is of another time than the range, and would not count there either.',
  not_successful: 'The deployment did not succeed.',
  other_environment: 'The deployment went to another environment.',
  not_finished: 'It has no date of finishing.',
  same_rollout: 'It tells of a rollout that another deployment stands for, which counts once.',
  no_deployment_before_incident: 'No deployment that could have caused the incident was finished before it.',
  deployment_outside_time_range: 'The deployment that caused it lies outside the time range.',
  not_resolved: 'It is not resolved.',
  resolved: 'It is resolved.',
  created_after_range: 'It was created after the time range.',
  no_duration: 'Its duration is not known.',
  clock_backwards: 'It ended before it began: the clocks of the tools disagree.',
  other_category: 'Its issue category is none of the chosen ones.',
  other_component: 'Its component is not the chosen service.',
  no_result: 'It neither succeeded nor failed.',
} as const
export type Reason = keyof typeof REASONS

interface ItemColumns {
  readonly kind: ItemKind
  readonly id: Sql
  /** The date that decides the range and the bucket. */
  readonly at: Sql
  readonly value: Sql
  readonly reason: Sql
  readonly title: Sql
  readonly url: Sql
  readonly repository: Sql
  readonly account: Sql
  /** Alias of the table whose origin columns name the raw row. */
  readonly origin: string
  readonly from: Sql
}
type ItemKind = 'pull_request' | 'commit' | 'deployment' | 'incident' | 'issue' | 'build'

/** The table that holds an item of each kind. */
export const TABLE_OF: Readonly<Record<ItemKind, string>> = {
  pull_request: 'pull_requests',
  commit: 'commits',
  deployment: 'cicd_deployments',
  incident: 'incidents',
  issue: 'issues',
  build: 'cicd_pipelines',
}

export interface Item {
  readonly kind: ItemKind
  readonly id: string
  readonly at: Date | null
  readonly value: number | null
  readonly reason: Reason | null
  readonly title: string | null
  readonly url: string | null
  readonly repository: string | null
  readonly account: string | null
  readonly raw_table: string | null
  readonly raw_params: string | null
  readonly raw_id: number | null
}

export const selectItems = (dialect: Dialect, columns: ItemColumns): Sql =>
  sql`select ${sql.raw(dialect.joinAsWritten)} ${sql.lit(columns.kind)} as kind, ${columns.id} as id,
    ${columns.at} as at, ${columns.value} as value, ${columns.reason} as reason, ${columns.title} as title,
    ${columns.url} as url, ${columns.repository} as repository, ${columns.account} as account,
    ${sql.ref(`${columns.origin}._raw_data_table`)} as raw_table, ${sql.ref(`${columns.origin}._raw_data_params`)} as raw_params,
    ${sql.ref(`${columns.origin}._raw_data_id`)} as raw_id ${columns.from}`

/** The first reason whose condition holds; null when none does. */
export const firstOf = (...reasons: readonly (readonly [Reason, Sql] | null)[]): Sql => {
  const cases = reasons.flatMap((each) => (each ? [sql`when ${each[1]} then ${sql.lit(each[0])}`] : []))
  return sql`case ${sql.join(cases, sql` `)} end`
}

export const outside = (moment: Sql, { from, to }: Pick<MetricQuery, 'from' | 'to'>): Sql =>
  sql`${moment} is null or ${moment} < ${from} or ${moment} > ${to}`

/** For items that would count in no range. The reason is of interest only in the range that the item belongs to. */
export const isOfOtherTime = (moment: Sql, { from, to }: Pick<MetricQuery, 'from' | 'to'>): Sql =>
  sql`(${moment} < ${from} or ${moment} > ${to})`
