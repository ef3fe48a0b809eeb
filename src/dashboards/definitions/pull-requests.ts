import { sql } from 'kysely'
import { pullRequestPickupTime } from '../../metrics/definitions/pull-request-pickup-time.ts'
import { pullRequestReviewTime } from '../../metrics/definitions/pull-request-review-time.ts'
import { pullRequestSize } from '../../metrics/definitions/pull-request-size.ts'
import { pullRequestThroughput } from '../../metrics/definitions/pull-request-throughput.ts'
import { reviewDepth } from '../../metrics/definitions/review-depth.ts'
import { count, minutes, text } from '../columns.ts'
import type { Dashboard, Panel, PanelQuery } from '../dashboard.ts'
import { type Classes, classOf, mean, minutesFrom } from '../expressions.ts'
import { numberPanel, REMEDIES, seriesPanel } from '../panels.ts'
import {
  mergedWithoutReview,
  oldestOpenPullRequests,
  openPullRequests,
  pullRequestFlow,
  pullRequestsByRepository,
  timeToMergeSeries,
} from '../parts/pull-requests.ts'
import { narrowed, projectPullRequests } from '../populations.ts'
import { countedItems, isChosen } from '../statements.ts'
import { INTERVAL, PROJECT, REPOSITORY } from '../variables.ts'

const population = narrowed(projectPullRequests, 'repository', sql`pr.base_repo_id`)
const narrowing = (query: PanelQuery) => ({ where: isChosen(query, 'repository', sql`repository`) })

const SIZES: Classes = {
  below: [
    [10, 'under 10 lines'],
    [50, 'under 50 lines'],
    [200, 'under 200 lines'],
    [500, 'under 500 lines'],
    [1000, 'under 1,000 lines'],
  ],
  rest: '1,000 lines and more',
}
const sizes: Panel = {
  name: 'sizes',
  title: 'Do large ones take longer?',
  definition: 'Pull requests merged in the range by lines added and deleted, with their mean time to merge.',
  look: 'ranking',
  columns: { label: text('Size'), value: minutes('Time to merge'), counted: count('Merged') },
  statement: (query) => sql`select label, ${mean(query, sql`minutes`)} as value, count(*) as counted from (
      select ${classOf(sql`item.value`, SIZES)}, ${minutesFrom(query, sql`pr.created_date`, sql`pr.merged_date`)} as minutes
      from (${countedItems(query, pullRequestSize, narrowing(query))}) item inner join pull_requests pr on pr.id = item.id
    ) each_one group by place, label order by place`,
  remedy: REMEDIES['pull requests'],
}

export const pullRequests: Dashboard = {
  name: 'pull-requests',
  title: 'Pull request flow',
  question: 'Do changes move through review without waiting, and which ones wait now?',
  group: 'Engineering',
  variables: [PROJECT, REPOSITORY, INTERVAL],
  sections: [
    {
      panels: [
        numberPanel(pullRequestThroughput, { narrowing }),
        openPullRequests(population),
        numberPanel(pullRequestPickupTime, { narrowing }),
        mergedWithoutReview(population),
      ],
    },
    {
      title: 'Over time',
      panels: [
        pullRequestFlow(population),
        timeToMergeSeries(population),
        seriesPanel(pullRequestPickupTime, { narrowing }),
        seriesPanel(pullRequestReviewTime, { narrowing }),
        seriesPanel(reviewDepth, { narrowing }),
        sizes,
      ],
    },
    {
      title: 'Where',
      panels: [pullRequestsByRepository(population), oldestOpenPullRequests(population)],
    },
  ],
}
