/** Panels of builds and their jobs, for any population (`p`). */
import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { summarized } from '../../metrics/read/read.ts'
import { ADDRESS, count, moment, seconds, share, TIME, text } from '../columns.ts'
import type { Panel, PanelQuery } from '../dashboard.ts'
import { countIf, mean, named, secondsFrom, shareIf } from '../expressions.ts'
import { REMEDIES } from '../panels.ts'
import type { Population } from '../populations.ts'
import { eventsByInterval, isInRange, measuresByInterval, mediansByInterval } from '../statements.ts'
import { numberOf } from './number.ts'

const remedy = REMEDIES.builds
const JOBS_REMEDY = 'No job of a build is known in this range: collect a build tool that tells its jobs.'
const QUEUE_REMEDY = 'No build of this range tells when it was queued or when its first job began.'
const hasResult = sql`p.result in ('SUCCESS', 'FAILURE')`
const isFinished = (query: PanelQuery) => isInRange(query, sql`p.finished_date`)

/** Jobs (`t`) of builds that were finished in the range. */
const jobsOf = (population: Population, query: PanelQuery): Sql => {
  const { from, where } = population(query)
  return sql`${from} inner join cicd_tasks t on t.pipeline_id = p.id where ${where} and ${isFinished(query)}`
}

export const buildsFinished = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'builds',
      title: 'Builds',
      definition: 'Builds finished in the range, whatever their result.',
      columns: { value: count('Builds') },
      remedy,
    },
    (query, rows) => sql`select count(*) as value ${rows} and ${isFinished(query)}`,
  )

export const buildsSucceeded = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'build-success',
      title: 'Build success',
      definition: 'Share of the builds that succeeded among those that succeeded or failed in the range.',
      better: 'higher',
      columns: { value: share('Succeeded'), counted: count('Builds') },
      remedy,
    },
    (query, rows) => sql`select ${shareIf(query, sql`p.result = 'SUCCESS'`)} as value, count(*) as counted
      ${rows} and ${hasResult} and ${isFinished(query)}`,
  )

export const meanBuildDuration = (population: Population): Panel =>
  numberOf(
    population,
    {
      name: 'mean-build-duration',
      title: 'Build duration',
      definition: 'Mean duration of the builds that succeeded or failed in the range, without the time in a queue.',
      better: 'lower',
      columns: { value: seconds('Duration'), counted: count('Builds') },
      remedy,
    },
    (query, rows) => sql`select ${mean(query, sql`p.duration_sec`)} as value, count(p.duration_sec) as counted
      ${rows} and ${hasResult} and ${isFinished(query)}`,
  )

export const buildResults = (population: Population): Panel => ({
  name: 'build-results',
  title: 'Builds by result',
  definition:
    'Builds by the date on which they were finished. Others were cancelled or skipped, or the tool reports no result.',
  look: 'bars',
  columns: { time: TIME, succeeded: count('Succeeded'), failed: count('Failed'), others: count('Others') },
  statement: (query) => {
    const { from, where } = population(query)
    const finished = (condition: Sql) =>
      sql`select p.finished_date as at ${from} where ${where} and p.finished_date is not null and ${condition}`
    return eventsByInterval(query, {
      succeeded: finished(sql`p.result = 'SUCCESS'`),
      failed: finished(sql`p.result = 'FAILURE'`),
      others: finished(sql`coalesce(p.result, '') not in ('SUCCESS', 'FAILURE')`),
    })
  },
  remedy,
})

const ofResults = (population: Population, query: PanelQuery, value: Sql): Sql => {
  const { from, where } = population(query)
  return sql`select p.finished_date as at, ${value} as value ${from} where ${where} and ${hasResult}`
}

export const buildSuccessSeries = (population: Population): Panel => ({
  name: 'build-success-series',
  title: 'Build success over time',
  definition: 'Share of the builds that succeeded among those that succeeded or failed, by date of finish.',
  look: 'lines',
  better: 'higher',
  columns: { time: TIME, value: share('Succeeded'), counted: count('Builds') },
  statement: (query) => {
    const rows = ofResults(population, query, sql`case when p.result = 'SUCCESS' then 1 else 0 end`)
    return measuresByInterval(query, rows, {
      values: { value: mean(query, sql`value`) },
      counts: { counted: sql`count(*)` },
    })
  },
  remedy,
})

export const buildDurationSeries = (population: Population): Panel => ({
  name: 'build-duration-series',
  title: 'Build duration over time',
  definition: 'Mean duration of the builds that succeeded or failed, by date of finish.',
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: seconds('Duration'), counted: count('Builds') },
  statement: (query) => {
    const rows = ofResults(population, query, sql`p.duration_sec`)
    return measuresByInterval(query, rows, {
      values: { value: mean(query, sql`value`) },
      counts: { counted: sql`count(value)` },
    })
  },
  remedy,
})

/**
 * The time in the queue as the tool reports it, or else until the first job began. Panels show its median, because a build that
 * runs again keeps its first date.
 */
const queued = (query: PanelQuery): Sql => sql`coalesce(p.queued_duration_sec, (select
  ${secondsFrom(query, sql`p.created_date`, sql`min(t.started_date)`)} from cicd_tasks t
  where t.pipeline_id = p.id and t.started_date >= p.created_date))`
const QUEUED =
  'as the tool reports it, otherwise from the creation of the build to the start of its first job. A build that was run again counts from its first creation.'

const queueRows = (population: Population, query: PanelQuery): Sql => {
  const { from, where } = population(query)
  return sql`select id, at, value from (select p.id, p.finished_date as at, ${queued(query)} as value ${from}
    where ${where} and ${hasResult} and ${isFinished(query)}) each_one where value is not null`
}

export const buildQueueTime = (population: Population): Panel => ({
  name: 'queue-time',
  title: 'Time in the queue',
  definition: `Median time that builds waited before anything ran, for the builds that succeeded or failed in the range: ${QUEUED}`,
  look: 'number',
  width: 6,
  height: 5,
  better: 'lower',
  columns: { value: seconds('In the queue'), counted: count('Builds') },
  statement: (query) => summarized(query.dialect, { summary: 'median' }, queueRows(population, query), {}),
  remedy: QUEUE_REMEDY,
})

export const queueTimeSeries = (population: Population): Panel => ({
  name: 'queue-time-series',
  title: 'Time in the queue over time',
  definition: `Median time that builds waited before anything ran, by date of finish: ${QUEUED}`,
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, value: seconds('In the queue'), counted: count('Builds') },
  statement: (query) => mediansByInterval(query, queueRows(population, query)),
  remedy: QUEUE_REMEDY,
})

export const buildsByName = (population: Population): Panel => ({
  name: 'builds-by-name',
  title: 'Builds by name',
  definition:
    'Of each build (workflow, pipeline or job): how often it was finished in the range, the share of successes among successes and failures, and its mean and longest duration.',
  look: 'table',
  height: 10,
  columns: {
    name: text('Build'),
    runs: count('Runs'),
    success: share('Success'),
    failed: count('Failed'),
    duration: seconds('Mean duration'),
    longest: seconds('Longest'),
    latest: moment('Latest'),
  },
  statement: (query) => {
    const { from, where } = population(query)
    const rows = sql`select ${named('no name', sql`p.name`)} as name, p.result, p.duration_sec, p.finished_date
      ${from} where ${where} and ${isFinished(query)}`
    return sql`select name, count(*) as runs, ${successOf(query)} as success, ${countIf(sql`result = 'FAILURE'`)} as failed,
      ${mean(query, sql`duration_sec`)} as duration, max(duration_sec) as longest, max(finished_date) as latest
      from (${rows}) p group by name order by runs desc, name limit 500`
  },
  remedy,
})

const successOf = (query: PanelQuery) => mean(query, sql`(case result when 'SUCCESS' then 1 when 'FAILURE' then 0 end)`)

export const slowestJobs = (population: Population): Panel => ({
  name: 'slowest-jobs',
  title: 'Slowest jobs',
  definition: 'The 20 slowest jobs of the builds finished in the range, by mean duration.',
  look: 'ranking',
  columns: { job: text('Job'), value: seconds('Mean duration'), runs: count('Runs') },
  statement: (query) => sql`select job, ${mean(query, sql`duration_sec`)} as value, count(*) as runs
    from (select ${named('no name', sql`t.name`)} as job, t.duration_sec ${jobsOf(population, query)}
      and t.result in ('SUCCESS', 'FAILURE')) each_one group by job order by value desc, job limit 20`,
  remedy: JOBS_REMEDY,
})

export const failuresByJob = (population: Population): Panel => ({
  name: 'failures-by-job',
  title: 'Jobs that fail most',
  definition: 'The 20 jobs with the most failures, in builds finished in the range.',
  look: 'ranking',
  columns: { job: text('Job'), value: count('Failures'), share: share('Of its runs') },
  statement: (
    query,
  ) => sql`select job, ${countIf(sql`result = 'FAILURE'`)} as value, ${shareIf(query, sql`result = 'FAILURE'`)} as share
    from (select ${named('no name', sql`t.name`)} as job, t.result ${jobsOf(population, query)}
      and t.result in ('SUCCESS', 'FAILURE')) each_one
    group by job having ${countIf(sql`result = 'FAILURE'`)} > 0 order by value desc, job limit 20`,
  remedy: 'No job failed in this range, or the tool does not tell its jobs.',
})

export const flakyJobs = (population: Population): Panel => ({
  name: 'flaky-jobs',
  title: 'Flaky jobs',
  definition:
    'Jobs that both succeeded and failed on the same commit, in builds finished in the range, although nothing had changed. The table shows how many commits had this, and how many the job ran on.',
  look: 'table',
  height: 10,
  columns: {
    job: text('Job'),
    flaky: count('Commits with both results'),
    commits: count('Commits'),
    share: share('Of its commits'),
    failures: count('Failures on these'),
    latest: moment('Latest'),
  },
  statement: (query) => {
    const { from, where } = population(query)
    const jobs = sql`select p.cicd_scope_id as scope, ${named('no name', sql`t.name`)} as job, own.commit_sha,
      max(case when t.result = 'SUCCESS' then 1 else 0 end) as has_success, ${countIf(sql`t.result = 'FAILURE'`)} as failures,
      max(t.finished_date) as latest
      ${from} inner join cicd_pipeline_commits own on own.pipeline_id = p.id inner join cicd_tasks t on t.pipeline_id = p.id
      where ${where} and ${isFinished(query)} and t.result in ('SUCCESS', 'FAILURE') group by 1, 2, 3`
    const isFlaky = sql`has_success = 1 and failures > 0`
    return sql`select job, ${countIf(isFlaky)} as flaky, count(*) as commits, ${shareIf(query, isFlaky)} as share,
      sum(case when ${isFlaky} then failures else 0 end) as failures, max(case when ${isFlaky} then latest end) as latest
      from (${jobs}) each_one group by job having ${countIf(isFlaky)} > 0 order by flaky desc, job limit 500`
  },
  remedy: 'No job of this range has both results on one commit: nothing is known to be flaky.',
})

export const latestFailures = (population: Population): Panel => ({
  name: 'latest-failures',
  title: 'Builds that failed, the latest first',
  definition: 'Builds that failed in the range.',
  look: 'table',
  width: 24,
  height: 10,
  columns: {
    at: moment('Finished'),
    name: text('Build', 'url'),
    title: text('Title'),
    duration: seconds('Duration'),
    url: ADDRESS,
  },
  statement: (query) => {
    const { from, where } = population(query)
    return sql`select p.finished_date as at, ${named('no name', sql`p.name`)} as name, coalesce(p.display_title, '') as title,
      p.duration_sec as duration, p.url ${from} where ${where} and p.result = 'FAILURE' and ${isFinished(query)}
      order by p.finished_date desc, p.id limit 500`
  },
  remedy: 'No build failed in this range.',
})
