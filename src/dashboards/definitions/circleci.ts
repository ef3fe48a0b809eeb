import type { Dashboard } from '../dashboard.ts'
import {
  buildDurationSeries,
  buildQueueTime,
  buildResults,
  buildSuccessSeries,
  buildsByName,
  buildsFinished,
  buildsSucceeded,
  failuresByJob,
  latestFailures,
  meanBuildDuration,
  queueTimeSeries,
  slowestJobs,
} from '../parts/builds.ts'
import { scopesVariable, sourceBuilds } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'circleci'
const PROJECT = scopesVariable(PLUGIN, 'cicd_scopes', {
  name: 'scope',
  title: 'Project of CircleCI',
  remedy: 'No project of CircleCI was collected: connect CircleCI, add its projects to a project, and collect.',
})
const builds = sourceBuilds(PLUGIN, PROJECT.name)

export const circleci: Dashboard = {
  name: 'circleci',
  title: 'CircleCI',
  question: 'How many workflows succeed, how long do they take, and what do they wait for?',
  group: 'Sources',
  variables: [PROJECT, INTERVAL],
  sections: [
    { panels: [buildsFinished(builds), buildsSucceeded(builds), meanBuildDuration(builds), buildQueueTime(builds)] },
    {
      title: 'Over time',
      panels: [buildResults(builds), buildSuccessSeries(builds), buildDurationSeries(builds), queueTimeSeries(builds)],
    },
    {
      title: 'Which ones',
      panels: [
        slowestJobs(builds),
        failuresByJob(builds),
        { ...buildsByName(builds), width: 24 },
        latestFailures(builds),
      ],
    },
  ],
}
