/** Panels of pull requests, for any population (`pr`). */
import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { ADDRESS, count, lines, minutes, moment, share, TIME, text } from '../columns.ts'
import type { Panel, PanelQuery } from '../dashboard.ts'
import { mean, minutesFrom, named, shareIf } from '../expressions.ts'
import { REMEDIES } from '../panels.ts'
import type { Population } from '../populations.ts'
import { eventsByInterval, isInRange, measuresByInterval } from '../statements.ts'
import { numberOf } from './number.ts'

const remedy = REMEDIES['pull requests']
const author = named('unknown', sql`a.full_name`, sql`a.user_name`, sql`pr.author_name`, sql`pr.author_id`)
const withAuthor = sql`left join accounts a on a.id = pr.author_id`
const withRepository = sql`left join repos r on r.id = pr.base_repo_id`
const repository = named('unknown', sql`r.name`, sql`pr.base_repo_id`)
const size = sql`(coalesce(pr.additions, 0) + coalesce(pr.deletions, 0))`

/** True if somebody other than the author commented on it or reviewed it. */
const isReviewed = sql`exists (select 1 from pull_request_comments review where review.pull_request_id = pr.id
  and coalesce(review.account_id, '') <> coalesce(pr.author_id, ''))`

const isOpenAtEnd = ({ to }: PanelQuery): Sql => sql`pr.created_date <= ${to} and (case
  when pr.merged_date is not null then pr.merged_date > ${to} when pr.closed_date is not null then pr.closed_date > ${to}
  else pr.status = 'OPEN' end)`

const timeToMerge = (query: PanelQuery) => minutesFrom(query, sql`pr.created_date`, sql`pr.merged_date`)

export const pullRequestFlow = (population: Population): Panel => ({
  name: 'pull-request-flow',
  title: 'Pull requests opened, merged and closed',
  definition:
    'Pull requests by the date on which they were opened, merged, or closed without a merge. One that was opened and merged in the same interval is in both bars.',
  look: 'bars',
  columns: { time: TIME, opened: count('Opened'), merged: count('Merged'), closed: count('Closed without merge') },
  statement: (query) => {
    const { from, where } = population(query)
    return eventsByInterval(query, {
      opened: sql`select pr.created_date as at ${from} where ${where}`,
      merged: sql`select pr.merged_date as at ${from} where ${where} and pr.merged_date is not null`,
      closed: sql`select pr.closed_date as at ${from} where ${where} and pr.merged_date is null and pr.closed_date is not null`,
    })
  },
  remedy,
})

export const openPullRequests = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'open-pull-requests',
      title: 'Open pull requests',
      definition: 'Pull requests that were open at the end of the range, whenever they were opened; drafts included.',
      better: 'lower',
      columns: { value: count('Open') },
      remedy,
    },
    (query, rows) => sql`select count(*) as value ${rows} and ${isOpenAtEnd(query)}`,
  )

export const pullRequestsOpened = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'pull-requests-opened',
      title: 'Pull requests opened',
      definition: 'Pull requests created in the range, whatever became of them.',
      better: 'higher',
      columns: { value: count('Opened') },
      remedy,
    },
    (query, rows) => sql`select count(*) as value ${rows} and ${isInRange(query, sql`pr.created_date`)}`,
  )

export const meanTimeToMerge = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'time-to-merge',
      title: 'Time to merge',
      definition:
        'Mean time from creation to merge of the pull requests merged in the range. Those not merged are left out.',
      better: 'lower',
      columns: { value: minutes('Time to merge'), counted: count('Merged') },
      remedy,
    },
    (query, rows) => sql`select ${mean(query, timeToMerge(query))} as value, count(*) as counted
      ${rows} and ${isInRange(query, sql`pr.merged_date`)}`,
  )

export const closedWithoutMerge = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'closed-without-merge',
      title: 'Closed without merge',
      definition: 'Share of the pull requests closed in the range that were not merged. Open ones are left out.',
      better: 'lower',
      columns: { value: share('Closed without merge'), counted: count('Closed or merged') },
      remedy,
    },
    (query, rows) => sql`select ${shareIf(query, sql`pr.merged_date is null`)} as value, count(*) as counted
      ${rows} and ${isInRange(query, sql`coalesce(pr.merged_date, pr.closed_date)`)}`,
  )

export const mergedWithoutReview = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'merged-without-review',
      title: 'Merged without review',
      definition:
        'Share of the pull requests merged in the range on which nobody but the author left a comment or a review.',
      better: 'lower',
      columns: { value: share('Merged without review'), counted: count('Merged') },
      remedy,
    },
    (query, rows) => sql`select ${shareIf(query, sql`not ${isReviewed}`)} as value, count(*) as counted
      ${rows} and ${isInRange(query, sql`pr.merged_date`)}`,
  )

export const mergedWithoutReviewSeries = (population: Population): Panel => ({
  name: 'merged-without-review-series',
  title: 'Merged without review over time',
  definition:
    'By date of merge: the share of pull requests on which nobody but the author left a comment or a review. Intervals without a merge have no point.',
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: share('Merged without review') },
  statement: (query) => {
    const { from, where } = population(query)
    const rows = sql`select pr.merged_date as at, case when ${isReviewed} then 0 else 1 end as is_unseen ${from}
      where ${where} and ${isInRange(query, sql`pr.merged_date`)}`
    return measuresByInterval(query, rows, { values: { value: mean(query, sql`is_unseen`) } })
  },
  remedy,
})

export const timeToMergeSeries = (population: Population): Panel => ({
  name: 'time-to-merge-series',
  title: 'Time to merge over time',
  definition: 'Mean time from creation to merge, by date of merge. Intervals without a merge have no point.',
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: minutes('Time to merge'), counted: count('Merged') },
  statement: (query) => {
    const { from, where } = population(query)
    const rows = sql`select pr.merged_date as at, ${timeToMerge(query)} as value ${from} where ${where} and pr.merged_date is not null`
    return measuresByInterval(query, rows, { values: { value: sql`avg(value)` }, counts: { counted: sql`count(*)` } })
  },
  remedy,
})

export const pullRequestsByRepository = (population: Population): Panel => ({
  name: 'pull-requests-by-repository',
  title: 'By repository',
  definition:
    'Of each repository: pull requests merged in the range, their mean time to merge, the share that nobody else reviewed, their mean size, and how many were open at its end.',
  look: 'table',
  columns: {
    repository: text('Repository'),
    merged: count('Merged'),
    minutes: minutes('Time to merge'),
    unreviewed: share('Without review'),
    size: lines('Lines changed'),
    open: count('Open'),
  },
  statement: (query) => {
    const { from, where } = population(query)
    const isMerged = isInRange(query, sql`pr.merged_date`)
    const rows = sql`select ${repository} as repository, case when ${isMerged} then 1 else 0 end as merged,
      case when ${isMerged} then ${timeToMerge(query)} end as minutes,
      case when ${isMerged} then (case when ${isReviewed} then 0 else 1 end) end as unreviewed,
      case when ${isMerged} then ${size} end as size, case when ${isOpenAtEnd(query)} then 1 else 0 end as is_open
      ${from} ${withRepository} where ${where}`
    return sql`select repository, sum(merged) as merged, avg(minutes) as minutes, ${mean(query, sql`unreviewed`)} as unreviewed,
      ${mean(query, sql`size`)} as size, sum(is_open) as open
      from (${rows}) each_one group by repository order by merged desc, repository limit 500`
  },
  remedy,
})

export const mergedByRepository = (population: Population): Panel => ({
  name: 'merged-by-repository',
  title: 'Where work is merged',
  definition: 'The 20 repositories with the most pull requests merged in the range.',
  look: 'ranking',
  columns: { repository: text('Repository'), value: count('Merged') },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select repository, count(*) as value from (select ${repository} as repository ${from} ${withRepository}
      where ${where} and ${isInRange(query, sql`pr.merged_date`)}) each_one group by repository order by value desc, repository limit 20`
  },
  remedy,
})

export const oldestOpenPullRequests = (population: Population): Panel => ({
  name: 'oldest-open-pull-requests',
  title: 'Open pull requests, the oldest first',
  definition:
    'Pull requests that were open at the end of the range, with their age at that time, their size, and whether somebody other than the author has answered.',
  look: 'table',
  width: 24,
  height: 12,
  columns: {
    title: text('Title', 'url'),
    repository: text('Repository'),
    author: text('Author'),
    created: moment('Opened'),
    age: minutes('Age'),
    size: lines('Lines changed'),
    review: text('Review'),
    url: ADDRESS,
  },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select pr.title, ${repository} as repository, ${author} as author, pr.created_date as created,
      ${minutesFrom(query, sql`pr.created_date`, query.to)} as age, ${size} as size,
      case when ${isReviewed} then 'answered' else 'waits for a review' end as review, pr.url
      ${from} ${withAuthor} ${withRepository} where ${where} and ${isOpenAtEnd(query)}
      order by pr.created_date, pr.id limit 500`
  },
  remedy: 'No pull request was open at the end of this range: choose another range.',
})

/** Shows merged pull requests that name no issue. */
export const unlinkedSeries = (population: Population): Panel => ({
  name: 'without-issue-series',
  title: 'Pull requests that name no issue',
  definition:
    'Share of the pull requests merged in each interval that name no issue, so that nobody can see why they were made.',
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: share('Without issue'), merged: count('Merged') },
  statement: (query) => {
    const { from, where } = population(query)
    const isLinked = sql`exists (select 1 from pull_request_issues link where link.pull_request_id = pr.id)`
    const rows = sql`select pr.merged_date as at, case when ${isLinked} then 0 else 1 end as is_unlinked ${from}
      where ${where} and pr.merged_date is not null`
    const value = mean(query, sql`is_unlinked`)
    return measuresByInterval(query, rows, { values: { value }, counts: { merged: sql`count(*)` } })
  },
  remedy,
})
