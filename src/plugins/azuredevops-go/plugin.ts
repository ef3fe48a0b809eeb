import { codeHostRules, definePlugin } from '../../plugin-kit/index.ts'
import { asksToSignIn, checkConnection, ENDPOINT, hosts, limits, sign } from './connection.ts'
import { deliveries } from './deliveries.ts'
import builds from './entities/builds.ts'
import commits, { pullRequestCommitsEntity } from './entities/commits.ts'
import environments, { environmentDeploymentsEntity } from './entities/environments.ts'
import iterations from './entities/iterations.ts'
import { identitiesEntity, usersEntity } from './entities/people.ts'
import pullRequests, { labelsEntity, reviewersEntity } from './entities/pull-requests.ts'
import releaseDeployments from './entities/release-deployments.ts'
import repoEntity from './entities/repos.ts'
import threads from './entities/threads.ts'
import timelineRecords from './entities/timeline-records.ts'
import workItemTypes from './entities/work-item-types.ts'
import workItems, { linksEntity, tagsEntity } from './entities/work-items.ts'
import { isNative, repos } from './kit.ts'
import { referred } from './referred.ts'
import { remoteScopes } from './remote-scopes.ts'
import { collectRepository, scopeCheck } from './repository.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'
import { connectionFields, RIGHTS, scopeConfigFields } from './settings.ts'

export const azuredevops = definePlugin({
  name: 'azuredevops_go',
  title: 'Azure DevOps',
  about:
    'Repositories with their pull requests, builds, releases and environments; boards with work items and sprints.',
  spelling: 'camel',
  connection: {
    endpoint: ENDPOINT,
    rights: RIGHTS,
    fields: connectionFields,
    hosts,
    sign,
    limits,
    asksToSignIn,
    check: checkConnection,
  },
  scope: {
    table: repos,
    title: 'Repository or board',
    options: { repositoryId: 'id' },
    toldBy: {
      organizationId: 'organization_id',
      projectId: 'project_id',
      repositoryType: 'type',
      externalId: 'external_id',
      name: 'name',
    },
    // As in DevLake, the connection is not among them.
    params: (_connectionId, scope, { organizationId, projectId } = {}) => ({
      OrganizationId: organizationId || scope.organization_id,
      RepositoryId: scope.id,
      ProjectId: projectId || scope.project_id,
    }),
    remote: remoteScopes,
    check: scopeCheck,
  },
  scopeConfig: { fields: scopeConfigFields, prepare: codeHostRules, names: ruleNames, samples: ruleSamples },
  plan: { cloneUrl: (scope) => (isNative(scope) ? scope.remote_url || scope.url : '') },
  deliveries,
  referred,
  extra: { first: [collectRepository], last: [] },
  formerRaws: ['azuredevops_go_api_releases', 'azuredevops_go_api_workitems'],
  entities: [
    repoEntity,
    usersEntity,
    pullRequests,
    labelsEntity,
    reviewersEntity,
    threads,
    pullRequestCommitsEntity,
    commits,
    builds,
    timelineRecords,
    environments,
    environmentDeploymentsEntity,
    releaseDeployments,
    workItemTypes,
    iterations,
    linksEntity,
    workItems,
    tagsEntity,
    identitiesEntity,
  ],
})
