/** Every dashboard, in the order in which they are listed. */
import { unknownName } from '../basics/nearest.ts'
import { type Dashboard, type Panel, panelsOf, type Variable } from './dashboard.ts'
import { argocd } from './definitions/argocd.ts'
import { azureDevops } from './definitions/azure-devops.ts'
import { bamboo } from './definitions/bamboo.ts'
import { bitbucket, bitbucketServer } from './definitions/bitbucket.ts'
import { ciHealth } from './definitions/ci-health.ts'
import { circleci } from './definitions/circleci.ts'
import { collectionHealth } from './definitions/collection-health.ts'
import { dora } from './definitions/dora.ts'
import { doraByTeam } from './definitions/dora-by-team.ts'
import { doraChangeFailureRate } from './definitions/dora-change-failure-rate.ts'
import { doraChangeLeadTime } from './definitions/dora-change-lead-time.ts'
import { doraDeploymentFrequency } from './definitions/dora-deployment-frequency.ts'
import { doraRecoveryTime } from './definitions/dora-recovery-time.ts'
import { doraValidation } from './definitions/dora-validation.ts'
import { engineeringOverview } from './definitions/engineering-overview.ts'
import { engineeringThroughput } from './definitions/engineering-throughput.ts'
import { github } from './definitions/github.ts'
import { gitlab } from './definitions/gitlab.ts'
import { issuesAndBugs } from './definitions/issues-and-bugs.ts'
import { jenkins } from './definitions/jenkins.ts'
import { opsgenie, pagerduty } from './definitions/on-call.ts'
import { pullRequests } from './definitions/pull-requests.ts'
import { serviceReport } from './definitions/service-report.ts'
import { sonarqube } from './definitions/sonarqube.ts'
import { storage } from './definitions/storage.ts'
import { jira, linear } from './definitions/trackers.ts'
import { webhooks } from './definitions/webhooks.ts'

export const dashboards: readonly Dashboard[] = [
  dora,
  doraDeploymentFrequency,
  doraChangeLeadTime,
  doraChangeFailureRate,
  doraRecoveryTime,
  doraByTeam,
  doraValidation,
  serviceReport,
  engineeringOverview,
  engineeringThroughput,
  pullRequests,
  issuesAndBugs,
  ciHealth,
  github,
  gitlab,
  bitbucket,
  bitbucketServer,
  azureDevops,
  jira,
  linear,
  circleci,
  jenkins,
  bamboo,
  argocd,
  sonarqube,
  pagerduty,
  opsgenie,
  webhooks,
  collectionHealth,
  storage,
]

const named = <Thing extends { readonly name: string }>(
  kind: string,
  name: string,
  things: readonly Thing[],
): Thing => {
  const thing = things.find((each) => each.name === name)
  if (thing) return thing
  throw unknownName(
    kind,
    name,
    things.map((each) => each.name),
  )
}

export const dashboardNamed = (name: string): Dashboard => named('dashboard', name, dashboards)
export const panelNamed = (dashboard: Dashboard, name: string): Panel => named('panel', name, panelsOf(dashboard))
export const variableNamed = ({ variables }: Dashboard, name: string): Variable => named('variable', name, variables)
