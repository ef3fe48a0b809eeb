import { definePlugin, type Entity } from '../../plugin-kit/index.ts'
import { graphqlDeliveries } from './deliveries.ts'
import pullRequestCommits from './entities/pull-request-commits.ts'
import reviews from './entities/reviews.ts'
import accounts, { bots } from './graphql/accounts.ts'
import deployments, { refs } from './graphql/deployments.ts'
import issues from './graphql/issues.ts'
import jobs from './graphql/jobs.ts'
import pullRequests from './graphql/pull-requests.ts'
import releases, { authors as releaseAuthors } from './graphql/releases.ts'
import { githubSpec, sharedEntities } from './plugin.ts'

/** GitHub with GraphQL where that saves requests. Connections, scopes and tables are those of `github`. */
export const githubGraphql = definePlugin({
  ...githubSpec,
  name: 'github_graphql',
  title: 'GitHub (GraphQL)',
  settingsOf: githubSpec,
  deliveries: graphqlDeliveries,
  entities: [
    ...sharedEntities,
    issues,
    pullRequests,
    convertOnly(pullRequestCommits),
    convertOnly(reviews),
    jobs,
    accounts,
    bots,
    refs,
    deployments,
    releaseAuthors,
    releases,
  ],
})

/** For entities whose records come with the pull requests. */
function convertOnly(entity: Entity): Entity {
  const { raw: _raw, collect: _collect, extract: _extract, ...spec } = entity.spec
  return { ...entity, spec }
}
