import { definePlugin, type Referred } from '../../plugin-kit/index.ts'
import { checkConnection, cloneUser, credentials, sign } from './connection.ts'
import { deliveries } from './deliveries.ts'
import activityEntity, { activities, comments, replies } from './entities/activities.ts'
import commits from './entities/commits.ts'
import pullRequestEntity, { merges, pullRequests, reviewers, reviewersEntity } from './entities/pull-requests.ts'
import repoEntity from './entities/repos.ts'
import userEntity from './entities/users.ts'
import { repoPath, repos, users } from './kit.ts'
import { remoteScopes } from './remote-scopes.ts'
import { collectRepository } from './repository.ts'
import { rules } from './rules.ts'
import { connectionFields, RIGHTS, scopeConfigFields } from './settings.ts'

/** People to whom several records refer. They are kept as long as one record refers to them. */
const referred: readonly Referred[] = [
  {
    table: users,
    by: [
      { table: pullRequests, columns: { bitbucket_id: 'author_id' } },
      { table: reviewers, columns: { bitbucket_id: 'reviewer_id' } },
      { table: merges, columns: { bitbucket_id: 'merged_by_id' } },
      { table: activities, columns: { bitbucket_id: 'user_id' } },
      { table: comments, columns: { bitbucket_id: 'author_id' } },
      { table: replies, columns: { bitbucket_id: 'author_id' } },
    ],
  },
]

export const bitbucketServer = definePlugin({
  name: 'bitbucket_server',
  title: 'Bitbucket Data Center',
  about: 'Repositories of Bitbucket Server or Data Center with their pull requests, reviews and comments.',
  spelling: 'camel',
  connection: {
    endpoint: '',
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
    params: (connectionId, { bitbucket_id }) => ({ ConnectionId: connectionId, FullName: bitbucket_id }),
    remote: remoteScopes,
    check: (scope) => ({ path: repoPath(scope) }),
  },
  scopeConfig: { fields: scopeConfigFields, prepare: rules },
  plan: { cloneUrl: ({ clone_url }) => clone_url.replace(/^(https?:\/\/)[^/@]*@/, '$1') },
  deliveries,
  referred,
  extra: { first: [collectRepository], last: [] },
  formerRaws: [
    'bitbucket_server_api_branches',
    'bitbucket_server_api_builds',
    'bitbucket_server_api_commits',
    'bitbucket_server_api_users',
  ],
  entities: [repoEntity, userEntity, pullRequestEntity, reviewersEntity, activityEntity, commits],
})
