/** Every plugin, in one list. */
import type { Plugin } from '../plugin-kit/index.ts'
import { argocd } from './argocd/plugin.ts'
import { azuredevops } from './azuredevops-go/plugin.ts'
import { bamboo } from './bamboo/plugin.ts'
import { bitbucket } from './bitbucket/plugin.ts'
import { bitbucketServer } from './bitbucket-server/plugin.ts'
import { circleci } from './circleci/plugin.ts'
import { ownFields } from './customize/fields.ts'
import { customize } from './customize/plugin.ts'
import { dora } from './dora/plugin.ts'
import { gitextractor } from './gitextractor/plugin.ts'
import { githubGraphql } from './github/graphql-plugin.ts'
import { github } from './github/plugin.ts'
import { gitlab } from './gitlab/plugin.ts'
import { issueTrace } from './issue-trace/plugin.ts'
import { jenkins } from './jenkins/plugin.ts'
import { jira } from './jira/plugin.ts'
import { linear } from './linear/plugin.ts'
import { linker } from './linker/plugin.ts'
import { opsgenie } from './opsgenie/plugin.ts'
import { org } from './org/plugin.ts'
import { pagerduty } from './pagerduty/plugin.ts'
import { refdiff } from './refdiff/plugin.ts'
import { sonarqube } from './sonarqube/plugin.ts'
import { webhook } from './webhook/plugin.ts'

/** The metric that a project has by default. Its option holds the policy to count by. */
export const FOUR_KEYS = dora.name

/** Fields that users add to domain tables. */
export { ownFields }

export const plugins: readonly Plugin[] = [
  argocd,
  azuredevops,
  bamboo,
  bitbucket,
  bitbucketServer,
  circleci,
  customize,
  github,
  githubGraphql,
  gitlab,
  dora,
  gitextractor(() => plugins),
  issueTrace,
  jenkins,
  jira,
  linear,
  linker,
  opsgenie,
  org,
  pagerduty,
  refdiff,
  sonarqube,
  webhook,
]
