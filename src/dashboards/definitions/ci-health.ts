import { buildDuration } from '../../metrics/definitions/build-duration.ts'
import { buildSuccessRate } from '../../metrics/definitions/build-success-rate.ts'
import type { Dashboard } from '../dashboard.ts'
import { numberPanel, seriesPanel } from '../panels.ts'
import {
  buildQueueTime,
  buildResults,
  buildsByName,
  buildsFinished,
  failuresByJob,
  flakyJobs,
  latestFailures,
  queueTimeSeries,
  slowestJobs,
} from '../parts/builds.ts'
import { projectBuilds } from '../populations.ts'
import { INTERVAL, PROJECT } from '../variables.ts'

export const ciHealth: Dashboard = {
  name: 'ci-health',
  title: 'CI health',
  question: 'Are builds fast and green, what do they wait for, and which jobs are flaky?',
  group: 'Engineering',
  variables: [PROJECT, INTERVAL],
  sections: [
    {
      panels: [
        numberPanel(buildSuccessRate),
        numberPanel(buildDuration),
        buildQueueTime(projectBuilds),
        buildsFinished(projectBuilds),
      ],
    },
    {
      title: 'Over time',
      panels: [
        buildResults(projectBuilds),
        seriesPanel(buildSuccessRate),
        seriesPanel(buildDuration),
        queueTimeSeries(projectBuilds),
      ],
    },
    {
      title: 'Which ones',
      panels: [
        slowestJobs(projectBuilds),
        failuresByJob(projectBuilds),
        flakyJobs(projectBuilds),
        buildsByName(projectBuilds),
        latestFailures(projectBuilds),
      ],
    },
  ],
}
