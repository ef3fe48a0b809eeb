import { sql } from 'kysely'
import type { Sql } from '../../metrics/calculate/calculation.ts'
import { changeLeadTime } from '../../metrics/definitions/change-lead-time.ts'
import { pullRequestTimes } from '../../metrics/pull-request-times.ts'
import { ADDRESS, count, minutes, moment, TIME, text } from '../columns.ts'
import type { Dashboard, Panel, PanelQuery } from '../dashboard.ts'
import { type Classes, classOf, double, mean, named } from '../expressions.ts'
import { numberPanel, REMEDIES, repositoriesPanel, seriesPanel } from '../panels.ts'
import { stageColumns } from '../parts/stages.ts'
import { countedItems, measuresByInterval, storedTimesOf } from '../statements.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

const remedy = REMEDIES.deployments
const STAGES = ['coding', 'pickup', 'review', 'deploy'] as const
const MEANINGS =
  'Coding lasts from the first commit to the creation of the pull request, pickup until somebody else answers, review until the merge, and deploy until production.'

/** Pull requests that count, as `pr`, with their stages, as `m`. `item.at` is the date of their deployment. */
const changes = (query: PanelQuery): Sql => sql`from (${countedItems(query, changeLeadTime)}) item
  inner join pull_requests pr on pr.id = item.id ${pullRequestTimes(storedTimesOf(query)).join}`
const timeOf = (query: PanelQuery, stage: (typeof STAGES)[number]): Sql =>
  pullRequestTimes(storedTimesOf(query)).column(`pr_${stage}_time`)

const meanCycle: Panel = {
  name: 'mean-lead-time',
  title: 'Mean lead time',
  definition:
    'The mean of the same pull requests; the key is their median. A few slow pull requests change the mean a lot. The stages below add up to about this value.',
  look: 'number',
  width: 6,
  height: 5,
  better: 'lower',
  columns: { value: minutes('Mean'), counted: count('Pull requests') },
  statement: (query) => sql`select ${mean(query, sql`item.value`)} as value, count(*) as counted ${changes(query)}`,
  remedy,
}

const stages: Panel = {
  name: 'stages',
  title: 'Where the time goes',
  definition: `Mean time of each stage of the pull requests deployed in the range. An unknown stage is left out; it does not count as 0. ${MEANINGS}`,
  look: 'ranking',
  better: 'lower',
  columns: { stage: text('Stage'), value: minutes('Mean'), counted: count('Pull requests') },
  statement: (query) => {
    const rows = STAGES.map((stage, place) => {
      const column = timeOf(query, stage)
      const title = stage.slice(0, 1).toUpperCase() + stage.slice(1)
      return sql`select ${sql.lit(place)} as place, ${sql.lit(title)} as stage, ${mean(query, column)} as value,
        count(${column}) as counted ${changes(query)}`
    })
    return sql`select stage, value, counted from (${sql.join(rows, sql` union all `)}) every_stage order by place`
  },
  remedy,
}

const stagesOverTime: Panel = {
  name: 'stages-series',
  title: 'Stages over time',
  definition: `Means of the stages of pull requests, by date of their deployment. ${MEANINGS}`,
  look: 'lines',
  better: 'lower',
  columns: { time: TIME, ...stageColumns },
  statement: (query) => {
    const columns = STAGES.map((stage) => sql`${double(query, timeOf(query, stage))} as ${sql.id(stage)}`)
    const rows = sql`select item.at, ${sql.join(columns)} ${changes(query)}`
    const measures = STAGES.map((stage) => [stage, sql`avg(${sql.id(stage)})`])
    return measuresByInterval(query, rows, { values: Object.fromEntries(measures) })
  },
  remedy,
}

const CLASSES: Classes = {
  below: [
    [60, 'under an hour'],
    [1440, 'under a day'],
    [10_080, 'under a week'],
    [43_200, 'under a month'],
  ],
  rest: 'a month and more',
}
const classes: Panel = {
  name: 'classes',
  title: 'How long changes take',
  definition: 'Changes deployed in the range, by lead time. The limits are those of the DORA bands.',
  look: 'ranking',
  columns: { label: text('Lead time'), value: count('Changes') },
  statement: (query) => sql`select label, count(*) as value from (select ${classOf(sql`item.value`, CLASSES)}
    from (${countedItems(query, changeLeadTime)}) item) each_one group by place, label order by place`,
  remedy,
}

const rows: Panel = {
  name: 'pull-requests',
  title: 'Pull requests with their stages, the latest deployed first',
  definition: `Every pull request that the key is made of. ${MEANINGS}`,
  look: 'table',
  width: 24,
  height: 14,
  columns: {
    at: moment('Deployed'),
    title: text('Title', 'url'),
    repository: text('Repository'),
    author: text('Author'),
    ...stageColumns,
    value: minutes('Lead time'),
    url: ADDRESS,
  },
  statement: (query) => sql`select item.at, pr.title, coalesce(repos.name, '') as repository,
    ${named('unknown', sql`a.full_name`, sql`a.user_name`, sql`pr.author_name`, sql`pr.author_id`)} as author,
    ${sql.join(STAGES.map((stage) => sql`${timeOf(query, stage)} as ${sql.id(stage)}`))}, item.value, pr.url
    ${changes(query)} left join repos on repos.id = pr.base_repo_id left join accounts a on a.id = pr.author_id
    order by item.at desc, pr.id limit 500`,
  remedy,
}

export const doraChangeLeadTime: Dashboard = {
  name: 'dora-change-lead-time',
  title: 'Change lead time',
  question: 'Where does the time between the first commit and production go, and for which pull requests?',
  group: 'Delivery',
  variables: [PROJECT, INTERVAL],
  sections: [
    { panels: [numberPanel(changeLeadTime), meanCycle, { ...stages, height: 5 }] },
    {
      panels: [seriesPanel(changeLeadTime), stagesOverTime, classes, repositoriesPanel(changeLeadTime)],
    },
    { panels: [rows] },
  ],
}
