import { definePlugin } from '../../plugin-kit/index.ts'
import { checkConnection, cloneUser, credentials, sign } from './connection.ts'
import { deliveries } from './deliveries.ts'
import accounts from './entities/accounts.ts'
import pullRequestCommits, { allCommits } from './entities/commits.ts'
import deployments, { environmentsEntity } from './entities/deployments.ts'
import issues, { commentsEntity as issueComments } from './entities/issues.ts'
import pipelines from './entities/pipelines.ts'
import pullRequestComments from './entities/pull-request-comments.ts'
import pullRequests, { mergeCommitsEntity, reviewersEntity } from './entities/pull-requests.ts'
import repoEntity from './entities/repos.ts'
import steps from './entities/steps.ts'
import { paramsOf, repos } from './kit.ts'
import { referred } from './referred.ts'
import { remoteScopes } from './remote-scopes.ts'
import { collectRepository } from './repository.ts'
import { ruleNames, ruleSamples } from './rule-names.ts'
import { rules } from './rules.ts'
import { connectionFields, ENDPOINT, RIGHTS, scopeConfigFields } from './settings.ts'

export const bitbucket = definePlugin({
  name: 'bitbucket',
  title: 'Bitbucket Cloud',
  about: 'Repositories with their pull requests, issues, pipelines, steps and deployments.',
  spelling: 'title',
  connection: {
    endpoint: ENDPOINT,
    rights: RIGHTS,
    fields: connectionFields,
    credentials,
    sign,
    cloneUser,
    check: checkConnection,
  },
  scope: {
    table: repos,
    title: 'Repository',
    titleColumn: 'bitbucket_id',
    options: { fullName: 'bitbucket_id' },
    params: paramsOf,
    remote: remoteScopes,
    check: ({ bitbucket_id }) => ({ path: `repositories/${bitbucket_id}` }),
  },
  scopeConfig: { fields: scopeConfigFields, prepare: rules, names: ruleNames, samples: ruleSamples },
  plan: { cloneUrl: ({ clone_url, html_url }) => withoutUser(clone_url || `${html_url}.git`) },
  deliveries,
  referred,
  extra: { first: [collectRepository], last: [] },
  formerRaws: ['bitbucket_api_repositories'],
  entities: [
    repoEntity,
    accounts,
    pullRequests,
    mergeCommitsEntity,
    reviewersEntity,
    pullRequestComments,
    pullRequestCommits,
    allCommits,
    issues,
    issueComments,
    pipelines,
    steps,
    environmentsEntity,
    deployments,
  ],
})

/** Bitbucket writes the name of the requesting user into the address: `https://ada@bitbucket.org/…`. */
function withoutUser(address: string): string {
  return address.replace(/^(https?:\/\/)[^/@]*@/, '$1')
}
