import { sql } from 'kysely'
import { blameOf } from '../../metrics/blame.ts'
import { mapping, type Sql } from '../../metrics/calculate/calculation.ts'
import { REMEDIES as CURES } from '../../metrics/findings/remedies.ts'
import { fourKeys } from '../../metrics/index.ts'
import { type Metric, REASONS, type Reason } from '../../metrics/metric.ts'
import { pullRequestTimes } from '../../metrics/pull-request-times.ts'
import { count, moment, TIME, text } from '../columns.ts'
import type { Dashboard, Panel } from '../dashboard.ts'
import { countIf, named } from '../expressions.ts'
import { deploymentResults } from '../parts/deployments.ts'
import {
  type Population,
  projectBuilds,
  projectDeployedCommits,
  projectDeployments,
  projectIncidents,
  projectIssues,
  projectPullRequests,
} from '../populations.ts'
import { eventsByInterval, isInRange, metricQueryOf } from '../statements.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

const NOTHING = 'The project has no data at all: add scopes to its blueprint, and collect.'
const reasons = Object.keys(REASONS) as Reason[]
const wordsOf = (word: (reason: Reason) => string): Sql =>
  sql.join(
    reasons.map((reason) => sql`when ${sql.lit(reason)} then ${sql.lit(word(reason))}`),
    sql` `,
  )

/** Shows the rows that a key metric is made of and those that it leaves out, with the reason and what to do. */
const explanation = (metric: Metric): Panel => ({
  name: metric.name,
  title: `What counts for the ${metric.title.toLowerCase()}`,
  definition: `${metric.definition} The table has all rows of the project that could count, of any date, with the reason why they do not count. Being outside the range is one of the reasons.`,
  look: 'table',
  width: 24,
  height: 8,
  columns: { items: count('Rows'), reason: text('Why'), remedy: text('What to do') },
  statement: (query) => {
    const items = metric.items({ ...metricQueryOf(query), isExplained: true })
    const grouped = sql`select coalesce(reason, '') as reason, count(*) as items from (${items}) item group by 1`
    return sql`select items, case reason ${wordsOf((reason) => REASONS[reason])} else 'It counts.' end as reason,
      case reason ${wordsOf((reason) => CURES[reason].remedy)} else '' end as remedy
      from (${grouped}) grouped order by case when grouped.reason = '' then 0 else 1 end, items desc, grouped.reason`
  },
  remedy: NOTHING,
})

/** Shows the origins of rows, and how old the latest row of each is. */
const origins: Panel = {
  name: 'origins',
  title: 'Where the rows come from',
  definition:
    'All rows of the project, of any date, by the raw table that they come from: the first and the latest date in the source, and when a run last wrote one. A table that is not listed was not collected.',
  look: 'table',
  width: 24,
  columns: {
    material: text('Rows'),
    origin: text('Raw table'),
    found: count('How many'),
    first: moment('First'),
    latest: moment('Latest'),
    written: moment('Last written'),
  },
  statement: (query) => {
    const own = (place: number, material: string, population: Population, alias: string, date: string) => {
      const { from, where } = population(query)
      return sql`select ${sql.lit(place)} as place, ${sql.lit(material)} as material,
        ${named('not noted', sql.ref(`${alias}._raw_data_table`))} as origin, ${sql.ref(date)} as at,
        ${sql.ref(`${alias}.updated_at`)} as written ${from} where ${where}`
    }
    const rows = [
      own(0, 'Pull requests', projectPullRequests, 'pr', 'pr.created_date'),
      own(1, 'Deployed commits', projectDeployedCommits, 'c', 'c.finished_date'),
      own(2, 'Builds', projectBuilds, 'p', 'p.finished_date'),
      own(3, 'Issues', projectIssues, 'i', 'i.created_date'),
      own(4, 'Incidents', projectIncidents, 'i', 'i.created_date'),
    ]
    return sql`select material, origin, count(*) as found, min(at) as first, max(at) as latest, max(written) as written
      from (${sql.join(rows, sql` union all `)}) every_row group by place, material, origin order by place, found desc, origin limit 500`
  },
  remedy: NOTHING,
}

/** Shows what pull requests need for a lead time, and how many of them have it. */
const pullRequestSteps: Panel = {
  name: 'pull-request-steps',
  title: 'From merge to lead time',
  definition:
    'Pull requests merged in the range, and how many of them have what their lead time is made of. The smallest number shows what is missing.',
  look: 'ranking',
  columns: { step: text('Step'), value: count('Pull requests') },
  statement: (query) => {
    const { from, where } = projectPullRequests(query)
    const times = pullRequestTimes(metricQueryOf(query))
    const steps: readonly (readonly [string, Sql])[] = [
      ['Merged', sql`1 = 1`],
      ['With calculated times', sql`m.id is not null`],
      ['With a first commit', sql`m.pr_coding_time is not null`],
      ['With a review', sql`m.pr_pickup_time is not null`],
      ['With a merge commit', sql`coalesce(pr.merge_commit_sha, '') <> ''`],
      ['Deployed to production', sql`${times.column('pr_deployed_date')} is not null`],
    ]
    const counts = steps.map(([, condition], index) => sql`${countIf(condition)} as ${sql.id(`step_${index}`)}`)
    const all = sql`select ${sql.join(counts)} ${from} ${times.join} where ${where} and ${isInRange(query, sql`pr.merged_date`)}`
    const rows = steps.map(
      ([step], index) =>
        sql`select ${sql.lit(index)} as place, ${sql.lit(step)} as step, ${sql.id(`step_${index}`)} as value from (${all}) counted`,
    )
    return sql`select step, value from (${sql.join(rows, sql` union all `)}) every_step where value is not null order by place`
  },
  remedy: 'No pull request was merged in this range: collect a code host, or choose a longer range.',
}

const mergedAndDeployed: Panel = {
  name: 'merged-and-deployed',
  title: 'Merged, and deployed since',
  definition:
    'Pull requests by date of merge, and how many of them were deployed to production. If the two numbers of an interval differ a lot, deployments or the commit history are missing.',
  look: 'bars',
  columns: { time: TIME, merged: count('Merged'), deployed: count('Of these deployed') },
  statement: (query) => {
    const { from, where } = projectPullRequests(query)
    const times = pullRequestTimes(metricQueryOf(query))
    const merged = sql`${from} ${times.join} where ${where} and pr.merged_date is not null`
    return eventsByInterval(query, {
      merged: sql`select pr.merged_date as at ${merged}`,
      deployed: sql`select pr.merged_date as at ${merged} and ${times.column('pr_deployed_date')} is not null`,
    })
  },
  remedy: 'No pull request was merged in this range: collect a code host, or choose a longer range.',
}

const issueTypes: Panel = {
  name: 'issue-types',
  title: 'Which issues are incidents',
  definition:
    'Issues of the project created in the range by the type that the tracker gives them, and how many of them count as incidents.',
  look: 'table',
  columns: {
    original: text('Type in the tracker'),
    type: text('Taken for'),
    issues: count('Issues'),
    incidents: count('Incidents'),
    latest: moment('Latest'),
  },
  statement: (query) => {
    const { from, where } = projectIssues(query)
    const rows = sql`select ${named('no type', sql`i.original_type`)} as original, ${named('no type', sql`i.type`)} as type,
      incident.id as incident, i.created_date ${from} left join incidents incident on incident.id = i.id
      where ${where} and ${isInRange(query, sql`i.created_date`)}`
    return sql`select original, type, count(*) as issues, count(incident) as incidents, max(created_date) as latest
      from (${rows}) each_one group by original, type order by issues desc, original, type limit 500`
  },
  remedy:
    'No issue was created in this range: collect an issue tracker, or let your tools report incidents to a webhook.',
}

const incidentLinks: Panel = {
  name: 'incident-links',
  title: 'Incidents and deployments',
  definition:
    'Incidents that began in the range: those that are attributed to a deployment, those that are not, and those that are not resolved.',
  look: 'ranking',
  columns: { state: text('Incidents'), value: count('How many') },
  statement: (query) => {
    const { from, where } = projectIncidents(query)
    const rows = sql`select case when link.incident_id is null then 0 else 1 end as is_linked,
      case when i.resolution_date is null then 0 else 1 end as is_resolved
      ${from} left join (${blameOf(metricQueryOf(query))}) link on link.incident_id = i.id
      where ${where} and ${isInRange(query, sql`i.created_date`)}`
    const state = (place: number, title: string, condition: Sql) =>
      sql`select ${sql.lit(place)} as place, ${sql.lit(title)} as state, count(*) as value from (${rows}) own where ${condition}`
    return sql`select state, value from (${state(0, 'With a deployment before them', sql`is_linked = 1`)}
      union all ${state(1, 'Without one', sql`is_linked = 0`)} union all ${state(2, 'Resolved', sql`is_resolved = 1`)}
      union all ${state(3, 'Not resolved', sql`is_resolved = 0`)}) every_state order by place`
  },
  remedy: 'No incident is known: collect incidents, and say which issue types are incidents.',
}

/** Shows every scope of the project, including scopes from which no rows came. */
const scopes: Panel = {
  name: 'scopes',
  title: 'What the project is made of',
  definition:
    'Every repository, board and source of deployments of the project, and how many of its pull requests, issues and deployed commits the keys can use. A scope with 0 was not collected, or has none.',
  look: 'table',
  columns: { kind: text('Kind'), scope: text('Scope'), found: count('Rows'), latest: moment('Latest') },
  statement: (query) => {
    const project = query.variable('project')
    const own = (
      place: number,
      kind: string,
      table: 'repos' | 'boards' | 'cicd_scopes',
      join: Sql,
      key: string,
      date: string,
    ) => {
      const scope = mapping('scope', table, project)
      return sql`select ${sql.lit(place)} as place, ${sql.lit(kind)} as kind, ${named('', sql`about.name`, sql`scope.row_id`)} as scope,
        count(${sql.ref(key)}) as found, max(${sql.ref(date)}) as latest
        from ${scope.from} left join ${sql.table(table)} about on about.id = scope.row_id ${join}
        where ${scope.where} group by scope.row_id, about.name`
    }
    const rows = [
      own(
        0,
        'Repository',
        'repos',
        sql`left join pull_requests pr on pr.base_repo_id = scope.row_id`,
        'pr.id',
        'pr.created_date',
      ),
      own(
        1,
        'Board',
        'boards',
        sql`left join board_issues link on link.board_id = scope.row_id left join issues i on i.id = link.issue_id`,
        'i.id',
        'i.created_date',
      ),
      own(
        2,
        'Deployments',
        'cicd_scopes',
        sql`left join cicd_deployment_commits c on c.cicd_scope_id = scope.row_id`,
        'c.id',
        'c.finished_date',
      ),
    ]
    return sql`select kind, scope, found, latest from (${sql.join(rows, sql` union all `)}) every_scope
      order by place, scope limit 500`
  },
  remedy: 'The project has no scopes: add some to its blueprint, and collect.',
}

export const doraValidation: Dashboard = {
  name: 'dora-validation',
  title: 'DORA validation',
  question: 'Is the data behind the four keys complete? What is missing, why, and what can you do?',
  group: 'Delivery',
  variables: [PROJECT, INTERVAL],
  sections: [
    { title: 'What counts, and why the rest does not', panels: fourKeys.map(explanation) },
    { title: 'What was collected', panels: [origins, scopes, deploymentResults(projectDeployments)] },
    {
      title: 'Step by step',
      panels: [pullRequestSteps, mergedAndDeployed, issueTypes, incidentLinks],
    },
  ],
}
