import { sql } from 'kysely'
import { issueThroughput } from '../../metrics/definitions/issue-throughput.ts'
import { pullRequestCodingTime } from '../../metrics/definitions/pull-request-coding-time.ts'
import { pullRequestCycleTime } from '../../metrics/definitions/pull-request-cycle-time.ts'
import { pullRequestDeployTime } from '../../metrics/definitions/pull-request-deploy-time.ts'
import { pullRequestPickupTime } from '../../metrics/definitions/pull-request-pickup-time.ts'
import { pullRequestReviewTime } from '../../metrics/definitions/pull-request-review-time.ts'
import { pullRequestSize } from '../../metrics/definitions/pull-request-size.ts'
import { pullRequestThroughput } from '../../metrics/definitions/pull-request-throughput.ts'
import { reviewDepth } from '../../metrics/definitions/review-depth.ts'
import { count, TIME } from '../columns.ts'
import type { Dashboard, Panel } from '../dashboard.ts'
import { named } from '../expressions.ts'
import { numberPanel, REMEDIES, seriesPanel } from '../panels.ts'
import { issueFlow, storyPoints } from '../parts/issues.ts'
import { mergedWithoutReviewSeries, pullRequestFlow } from '../parts/pull-requests.ts'
import { stagesSeries } from '../parts/stages.ts'
import { projectIssues, projectPullRequests } from '../populations.ts'
import { intervalOf, isInRange } from '../statements.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

const bugsByPriority: Panel = {
  name: 'bugs-by-priority',
  title: 'Bugs created by priority',
  definition: 'Bugs by the date on which they were created, one bar for each priority in the words of the tracker.',
  look: 'bars',
  better: 'lower',
  columns: { time: TIME, metric: { title: 'Priority', kind: 'text' }, value: count('Bugs') },
  statement: (query) => {
    const { from, where } = projectIssues(query)
    return sql`select time, metric, count(*) as value from (
        select ${intervalOf(query, sql`i.created_date`)} as time, ${named('no priority', sql`i.priority`)} as metric ${from}
        where ${where} and i.type = 'BUG' and ${isInRange(query, sql`i.created_date`)}
      ) each_one group by time, metric order by time, metric limit 5000`
  },
  remedy: 'No bug was created in this range, or no rule says which issue types are bugs.',
}

export const engineeringThroughput: Dashboard = {
  name: 'engineering-throughput',
  title: 'Throughput and cycle time',
  question: 'How much is finished, at what quality of review, and how long does each stage take?',
  group: 'Engineering',
  variables: [PROJECT, INTERVAL],
  sections: [
    {
      panels: [
        numberPanel(pullRequestThroughput),
        numberPanel(issueThroughput),
        numberPanel(pullRequestCycleTime),
        numberPanel(reviewDepth),
      ],
    },
    {
      title: 'Throughput and quality',
      panels: [
        pullRequestFlow(projectPullRequests),
        issueFlow(projectIssues),
        storyPoints(projectIssues),
        bugsByPriority,
        mergedWithoutReviewSeries(projectPullRequests),
        seriesPanel(pullRequestSize),
      ],
    },
    {
      title: 'Cycle time',
      panels: [
        seriesPanel(pullRequestCycleTime),
        stagesSeries(
          {
            coding: pullRequestCodingTime,
            pickup: pullRequestPickupTime,
            review: pullRequestReviewTime,
            deploy: pullRequestDeployTime,
          },
          {
            name: 'stages-series',
            title: 'Stages of pull requests merged',
            definition:
              'Mean time of each stage, by date of merge: coding (first commit to creation), pickup (to the first answer), review (to the merge) and deploy (to production). An unknown stage is left out; it does not count as 0.',
            remedy: REMEDIES['pull requests'],
          },
        ),
      ],
    },
  ],
}
