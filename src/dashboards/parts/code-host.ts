import type { Section } from '../dashboard.ts'
import type { Population } from '../populations.ts'
import { buildDurationSeries, buildResults, buildsByName, buildsSucceeded } from './builds.ts'
import { oldestOpenIssues } from './issue-lists.ts'
import { issueFlow, issuesCreated, leadTimeSeries } from './issues.ts'
import {
  closedWithoutMerge,
  meanTimeToMerge,
  mergedByRepository,
  pullRequestFlow,
  timeToMergeSeries,
} from './pull-requests.ts'

interface CodeHost {
  readonly pullRequests: Population
  readonly builds: Population
  readonly issues: Population
}

export const pullRequestSection = (title: string, pullRequests: Population): Section => ({
  title,
  panels: [
    { ...pullRequestFlow(pullRequests), width: 8 },
    { ...timeToMergeSeries(pullRequests), width: 8 },
    { ...mergedByRepository(pullRequests), width: 8 },
  ],
})

export const buildSection = (title: string, builds: Population): Section => ({
  title,
  panels: [
    { ...buildResults(builds), width: 8 },
    { ...buildDurationSeries(builds), width: 8 },
    { ...buildsByName(builds), width: 8 },
  ],
})

/** The sections of dashboards for hosts with code, builds and issues, with the titles that the host uses for them. */
export const codeHostSections = (
  { pullRequests, builds, issues }: CodeHost,
  titles: Readonly<Record<keyof CodeHost, string>>,
): Section[] => [
  {
    panels: [
      meanTimeToMerge(pullRequests),
      closedWithoutMerge(pullRequests),
      buildsSucceeded(builds),
      issuesCreated(issues),
    ],
  },
  pullRequestSection(titles.pullRequests, pullRequests),
  buildSection(titles.builds, builds),
  { title: titles.issues, panels: [issueFlow(issues), leadTimeSeries(issues), oldestOpenIssues(issues)] },
]
