import type { Dashboard } from '../dashboard.ts'
import { buildsSucceeded } from '../parts/builds.ts'
import { buildSection, pullRequestSection } from '../parts/code-host.ts'
import { deploymentFlow, deploymentsCount } from '../parts/deployments.ts'
import {
  closedWithoutMerge,
  meanTimeToMerge,
  mergedByRepository,
  mergedWithoutReview,
  oldestOpenPullRequests,
  pullRequestFlow,
  pullRequestsOpened,
  timeToMergeSeries,
} from '../parts/pull-requests.ts'
import { scopesVariable, sourceBuilds, sourceDeployments, sourcePullRequests } from '../populations.ts'
import { INTERVAL } from '../variables.ts'

const CLOUD = 'bitbucket'
const SERVER = 'bitbucket_server'
const repositoryOf = (plugin: string, title: string) =>
  scopesVariable(plugin, 'repos', {
    name: 'repository',
    title: 'Repository',
    remedy: `No repository of ${title} was collected: connect ${title}, add repositories to a project, and collect.`,
  })

const CLOUD_REPOSITORY = repositoryOf(CLOUD, 'Bitbucket Cloud')
// A repository of Bitbucket Cloud is also a scope of builds, with the same id.
const pullRequests = sourcePullRequests(CLOUD, CLOUD_REPOSITORY.name)
const builds = sourceBuilds(CLOUD, CLOUD_REPOSITORY.name)
const deployments = sourceDeployments(CLOUD, CLOUD_REPOSITORY.name)

export const bitbucket: Dashboard = {
  name: 'bitbucket',
  title: 'Bitbucket Cloud',
  question: 'Are pull requests of these repositories handled in time, are the pipelines green, and what is deployed?',
  group: 'Sources',
  variables: [CLOUD_REPOSITORY, INTERVAL],
  sections: [
    {
      panels: [
        meanTimeToMerge(pullRequests),
        closedWithoutMerge(pullRequests),
        buildsSucceeded(builds),
        deploymentsCount(deployments),
      ],
    },
    pullRequestSection('Pull requests', pullRequests),
    buildSection('Pipelines', builds),
    { title: 'Deployments', panels: [deploymentFlow(deployments)] },
  ],
}

const SERVER_REPOSITORY = repositoryOf(SERVER, 'Bitbucket Data Center')
const ofServer = sourcePullRequests(SERVER, SERVER_REPOSITORY.name)

export const bitbucketServer: Dashboard = {
  name: 'bitbucket-data-center',
  title: 'Bitbucket Data Center',
  question: 'Are pull requests of these repositories reviewed, and handled in time?',
  group: 'Sources',
  variables: [SERVER_REPOSITORY, INTERVAL],
  sections: [
    {
      panels: [
        pullRequestsOpened(ofServer),
        meanTimeToMerge(ofServer),
        closedWithoutMerge(ofServer),
        mergedWithoutReview(ofServer),
      ],
    },
    { title: 'Over time', panels: [pullRequestFlow(ofServer), timeToMergeSeries(ofServer)] },
    { title: 'Which ones', panels: [mergedByRepository(ofServer), oldestOpenPullRequests(ofServer)] },
  ],
}
