import type { Dashboard } from '../dashboard.ts'
import { buildDurationSeries, buildResults, buildsByName, buildsSucceeded } from '../parts/builds.ts'
import { oldestOpenIssues } from '../parts/issue-lists.ts'
import { issueFlow, issuesCreated, leadTimeSeries } from '../parts/issues.ts'
import {
  closedWithoutMerge,
  meanTimeToMerge,
  pullRequestFlow,
  pullRequestsByAuthor,
  timeToMergeSeries,
} from '../parts/pull-requests.ts'
import { scopesVariable, sourceBuilds, sourceIssues, sourcePullRequests } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const PLUGIN = 'github'
const REPOSITORY = scopesVariable(PLUGIN, 'repos', {
  name: 'repository',
  title: 'Repository',
  remedy: 'No repository of GitHub was collected: connect GitHub, add repositories to a project, and collect.',
})
// A repository of GitHub is repository, board and scope of builds under one id.
const pullRequests = sourcePullRequests(PLUGIN, REPOSITORY.name)
const issues = sourceIssues(PLUGIN, REPOSITORY.name)
const builds = sourceBuilds(PLUGIN, REPOSITORY.name)

export const github: Dashboard = {
  name: 'github',
  title: 'GitHub',
  question: 'Are issues and pull requests of these repositories handled in time, and are the workflows green?',
  group: 'Sources',
  variables: [REPOSITORY, INTERVAL],
  sections: [
    {
      panels: [
        meanTimeToMerge(pullRequests),
        closedWithoutMerge(pullRequests),
        buildsSucceeded(builds),
        issuesCreated(issues),
      ],
    },
    {
      title: 'Pull requests',
      panels: [
        { ...pullRequestFlow(pullRequests), width: 8 },
        { ...timeToMergeSeries(pullRequests), width: 8 },
        { ...pullRequestsByAuthor(pullRequests), width: 8 },
      ],
    },
    {
      title: 'Workflows',
      panels: [
        { ...buildResults(builds), width: 8 },
        { ...buildDurationSeries(builds), width: 8 },
        { ...buildsByName(builds), width: 8 },
      ],
    },
    {
      title: 'Issues',
      panels: [issueFlow(issues), leadTimeSeries(issues), oldestOpenIssues(issues)],
    },
  ],
}
