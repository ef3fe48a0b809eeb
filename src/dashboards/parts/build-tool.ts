import type { Section } from '../dashboard.ts'
import type { Population } from '../populations.ts'
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
} from './builds.ts'

/** The sections of dashboards for build tools. */
export const buildToolSections = (builds: Population): Section[] => [
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
]
