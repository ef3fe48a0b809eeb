/** Every source that is collected: what holds for all of them is tested on these. A new source is added here. */
import type { VendorUnderTest } from '../support/vendor-under-test.ts'
import { argocdVendor } from './argocd.ts'
import { azuredevopsVendor } from './azuredevops.ts'
import { bambooVendor } from './bamboo.ts'
import { bitbucketVendor } from './bitbucket.ts'
import { bitbucketServerVendor } from './bitbucket-server.ts'
import { circleciVendor } from './circleci.ts'
import { githubGraphqlVendor, githubVendor } from './github.ts'
import { gitlabVendor } from './gitlab.ts'
import { jenkinsVendor } from './jenkins.ts'
import { jiraVendor } from './jira.ts'
import { linearVendor } from './linear.ts'
import { opsgenieVendor } from './opsgenie.ts'
import { pagerdutyVendor } from './pagerduty.ts'
import { sonarqubeVendor } from './sonarqube.ts'

export const VENDORS: readonly VendorUnderTest[] = [
  argocdVendor,
  azuredevopsVendor,
  bambooVendor,
  bitbucketVendor,
  bitbucketServerVendor,
  circleciVendor,
  githubVendor,
  githubGraphqlVendor,
  gitlabVendor,
  jenkinsVendor,
  jiraVendor,
  linearVendor,
  opsgenieVendor,
  pagerdutyVendor,
  sonarqubeVendor,
]
