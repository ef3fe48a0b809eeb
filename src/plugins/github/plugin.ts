import { definePlugin, type PluginSpec } from '../../plugin-kit/index.ts'
import { checkConnection } from './check.ts'
import { credentials, ENDPOINT, headers, limits, sign } from './connection.ts'
import { deliveries } from './deliveries.ts'
import accounts, { organisations, people } from './entities/accounts.ts'
import comments, { onIssues, onPullRequests, reviewComments } from './entities/comments.ts'
import commits, { stats } from './entities/commits.ts'
import deployments, { deployedCommits, statuses } from './entities/deployments.ts'
import events from './entities/events.ts'
import issues, { assignees, labels as issueLabels } from './entities/issues.ts'
import jobs from './entities/jobs.ts'
import milestones from './entities/milestones.ts'
import pullRequestCommits, { longPullRequests } from './entities/pull-request-commits.ts'
import pullRequestIssues, { enrich } from './entities/pull-request-issues.ts'
import pullRequests, { detailsEntity, labels as pullRequestLabels } from './entities/pull-requests.ts'
import releases, { latestRelease, tagsEntity } from './entities/releases.ts'
import repoEntity from './entities/repos.ts'
import reviews, { reviewersEntity } from './entities/reviews.ts'
import runs from './entities/runs.ts'
import { repos } from './kit.ts'
import { referred } from './referred.ts'
import { remoteScopes } from './remote-scopes.ts'
import { collectRepository } from './repository.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'
import { prepareRules } from './rules.ts'
import { connectionFields, RIGHTS, scopeConfigFields } from './settings.ts'

/** Entities that are collected in the same way with both APIs. */
export const sharedEntities = [
  repoEntity,
  milestones,
  issueLabels,
  assignees,
  pullRequestLabels,
  enrich,
  pullRequestIssues,
  reviewersEntity,
  events,
  comments,
  reviewComments,
  onIssues,
  onPullRequests,
  runs,
  commits,
  stats,
  people,
]

export const githubSpec: PluginSpec = {
  name: 'github',
  title: 'GitHub',
  about: 'Repositories with their pull requests, reviews, issues, workflow runs, deployments and releases.',
  spelling: 'title',
  connection: {
    endpoint: ENDPOINT,
    rights: RIGHTS,
    fields: connectionFields,
    credentials,
    sign,
    headers,
    limits,
    check: checkConnection,
  },
  scope: {
    table: repos,
    title: 'Repository',
    options: { githubId: 'github_id', name: 'full_name', fullName: 'full_name' },
    params: (connectionId, { full_name }) => ({ ConnectionId: connectionId, Name: full_name }),
    remote: remoteScopes,
    check: ({ full_name }) => ({ path: `/repos/${full_name}` }),
  },
  scopeConfig: { fields: scopeConfigFields, prepare: prepareRules, names: ruleNames, samples: ruleSamples },
  plan: {
    plugin: ({ enableGraphql }) => (enableGraphql ? 'github_graphql' : 'github'),
    cloneUrl: ({ clone_url }) => clone_url,
  },
  deliveries,
  referred,
  extra: { first: [collectRepository], last: [] },
  formerRaws: ['github_api_repositories', 'github_deployment', 'github_graphql_release'],
  entities: [
    ...sharedEntities,
    issues,
    pullRequests,
    detailsEntity,
    pullRequestCommits,
    longPullRequests,
    reviews,
    jobs,
    accounts,
    organisations,
    deployments,
    statuses,
    deployedCommits,
    releases,
    latestRelease,
    tagsEntity,
  ],
}

export const github = definePlugin(githubSpec)
