import { sql } from 'kysely'
import { mapping, type Sql } from '../../metrics/calculate/calculation.ts'
import { issueLeadTime } from '../../metrics/definitions/issue-lead-time.ts'
import { pullRequestThroughput } from '../../metrics/definitions/pull-request-throughput.ts'
import { FEWEST_PEOPLE } from '../../metrics/teams.ts'
import { count, share, TIME } from '../columns.ts'
import type { Dashboard, Panel, PanelQuery } from '../dashboard.ts'
import { countIf, double, mean } from '../expressions.ts'
import { numberPanel, REMEDIES, seriesPanel } from '../panels.ts'
import { openByPriority } from '../parts/issue-lists.ts'
import { numberOf } from '../parts/number.ts'
import { meanTimeToMerge, timeToMergeSeries, unlinkedSeries } from '../parts/pull-requests.ts'
import { type Population, projectIssues, projectPullRequests } from '../populations.ts'
import { everyInterval, intervalOf, isInRange, measuresByInterval } from '../statements.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

const projectBugs: Population = (query) => {
  const { from, where } = projectIssues(query)
  return { from, where: sql`${where} and i.type = 'BUG'` }
}

/** `co`: the commits of the project's repositories. A commit of two repositories occurs twice. */
const projectCommits: Population = (query) => {
  const repo = mapping('repo', 'repos', query.variable('project'))
  return {
    from: sql`from ${repo.from} inner join repo_commits own on own.repo_id = repo.row_id inner join commits co on co.sha = own.commit_sha`,
    where: repo.where,
  }
}
/** E-mail addresses distinguish people better than names do. */
const committer = sql`lower(coalesce(nullif(co.author_email, ''), nullif(co.author_name, ''), co.author_id))`

const developers = numberOf(
  projectCommits,
  {
    name: 'developers',
    title: 'People who commit',
    definition: 'Distinct authors of commits in the range, by e-mail address. Bots that commit are counted too.',
    columns: { value: count('Authors') },
    remedy: REMEDIES.history,
  },
  (query, rows) =>
    sql`select count(distinct ${committer}) as value ${rows} and ${isInRange(query, sql`co.authored_date`)}`,
)

const bugsCreated = numberOf(
  projectBugs,
  {
    name: 'bugs-created',
    title: 'Bugs created',
    definition: 'Issues of type BUG created in the range; one on two boards counts once.',
    better: 'lower',
    columns: { value: count('Bugs') },
    remedy: 'No issue is known: collect an issue tracker, and say which issue types are bugs.',
  },
  (query, rows) => sql`select count(*) as value ${rows} and ${isInRange(query, sql`i.created_date`)}`,
)

const people: Panel = {
  name: 'people-series',
  title: 'People who commit, over time',
  definition: 'Distinct authors of commits in each interval, told apart by e-mail address, and their commits.',
  look: 'lines',
  columns: { time: TIME, authors: count('Authors'), commits: count('Commits') },
  statement: (query) => {
    const { from, where } = projectCommits(query)
    const rows = sql`select distinct co.sha, co.authored_date as at, ${committer} as author ${from} where ${where}`
    const measures = { authors: sql`count(distinct author)`, commits: sql`count(*)` }
    return measuresByInterval(query, rows, { counts: measures })
  },
  remedy: REMEDIES.history,
}

const codingDays: Panel = {
  name: 'coding-days',
  title: 'Days with code',
  definition: `Of the days on which anybody committed, the share on which an author committed, as a mean over the authors of the interval. It says how much of the time goes into code, not how good it is. An interval with fewer than ${FEWEST_PEOPLE} authors has no value.`,
  look: 'lines',
  columns: { time: TIME, value: share('Days with code') },
  statement: (query) => {
    const { from, where } = projectCommits(query)
    const day = sql.raw(query.dialect.startOf('day', 'co.authored_date'))
    const days = sql`select distinct ${intervalOf(query, sql`co.authored_date`)} as time, ${committer} as author, ${day} as day
      ${from} where ${where} and ${isInRange(query, sql`co.authored_date`)}`
    const shares = sql`select time, ${double(query, sql`count(*)`)} / (count(distinct author) * count(distinct day)) as value
      from (${days}) each_day group by time having count(distinct author) >= ${sql.lit(FEWEST_PEOPLE)}`
    return everyInterval(query, shares, sql`own.value`)
  },
  remedy: REMEDIES.history,
}

const workDone: Panel = {
  name: 'work-done',
  title: 'What the work was',
  definition: 'Issues by the date of their resolution: bugs and incidents, work that belongs to an epic, and the rest.',
  look: 'bars',
  columns: { time: TIME, repairs: count('Bugs and incidents'), planned: count('Of an epic'), others: count('Others') },
  statement: (query) => {
    const { from, where } = projectIssues(query)
    const rows = sql`select i.resolution_date as at, case when i.type in ('BUG', 'INCIDENT') then 'repairs'
      when coalesce(i.epic_key, '') <> '' then 'planned' else 'others' end as kind ${from} where ${where}`
    const kinds = ['repairs', 'planned', 'others'].map((kind) => [kind, countIf(sql`kind = ${sql.lit(kind)}`)])
    return measuresByInterval(query, rows, { counts: Object.fromEntries(kinds) })
  },
  remedy: REMEDIES.issues,
}

/** The issue was moved from one sprint to another. Moves into the first sprint or out of the last do not count. */
const wasMoved: Sql = sql`exists (select 1 from issue_changelogs move where move.issue_id = i.id
  and move.field_name = 'Sprint' and coalesce(move.original_from_value, '') <> '' and coalesce(move.original_to_value, '') <> '')`

const onTime: Panel = {
  name: 'on-time',
  title: 'Issues that kept their sprint',
  definition:
    'By date of creation: the share of issues that were never moved from one sprint to another. Issues that were in no sprint kept it.',
  look: 'lines',
  better: 'higher',
  columns: { time: TIME, value: share('Kept their sprint'), created: count('Created') },
  statement: (query: PanelQuery) => {
    const { from, where } = projectIssues(query)
    const rows = sql`select i.created_date as at, case when ${wasMoved} then 0 else 1 end as is_kept ${from}
      where ${where} and ${isInRange(query, sql`i.created_date`)}`
    return measuresByInterval(query, rows, {
      values: { value: mean(query, sql`is_kept`) },
      counts: { created: sql`count(*)` },
    })
  },
  remedy: REMEDIES.issues,
}

export const engineeringOverview: Dashboard = {
  name: 'engineering-overview',
  title: 'Engineering overview',
  question: 'How are quality, delivery, people and the flow of changes, in one page?',
  group: 'Engineering',
  variables: [PROJECT, INTERVAL],
  sections: [
    {
      panels: [bugsCreated, numberPanel(issueLeadTime), developers, meanTimeToMerge(projectPullRequests)],
    },
    { title: 'Quality', panels: [workDone, openByPriority(projectBugs)] },
    { title: 'Delivery', panels: [seriesPanel(issueLeadTime), onTime] },
    { title: 'People', panels: [people, codingDays] },
    {
      title: 'Flow of changes',
      panels: [
        seriesPanel(pullRequestThroughput, { width: 8 }),
        { ...timeToMergeSeries(projectPullRequests), width: 8 },
        { ...unlinkedSeries(projectPullRequests), width: 8 },
      ],
    },
  ],
}
