import { key, string } from '../../../database/table.ts'
import { byKey } from '../../../plugin-kit/index.ts'
import { commitRows, commits } from '../entities/commits.ts'
import rest, { DAYS_OF_CHANGE, deployments, UNFINISHED } from '../entities/deployments.ts'
import { entity, inRepo, REST_PAGE, repoAccounts, repoIdColumn, table } from '../kit.ts'
import { COMMIT_FIELDS, commitOf } from './commits.ts'
import { ask, completion, innerList, nodesIn, nodesQuery, overGraphql, repositoryList } from './kit.ts'

const STATUS = 'state updatedAt logUrl'
const DEPLOYMENT = `id databaseId task environment state description payload commitOid createdAt updatedAt ref { name }
  commit { ${COMMIT_FIELDS} } repository { id name url } latestStatus { ${STATUS} } ${innerList('statuses', STATUS)}`

export const { query, ...list } = repositoryList('deployments', { size: 100, order: 'CREATED_AT', fields: DEPLOYMENT })
export const someQuery = nodesQuery('Deployment', DEPLOYMENT)
export const completions = [completion('Deployment', 'statuses', STATUS)]

/** GraphQL returns null for refs that were deleted, such as merged branches. REST still returns their names. */
const deploymentRefs = table('deployment_refs', 'GithubDeploymentRef', {
  id: key(string('node_id')),
  repo_id: repoIdColumn(),
  ref_name: string('ref'),
})
export const refs = entity(deploymentRefs, {
  label: 'Deployment Refs',
  domainTypes: ['CICD'],
  raw: 'github_api_deployment_refs',
  collect: {
    request: ({ scope }) => ({ path: inRepo(scope, 'deployments') }),
    paging: REST_PAGE,
    incremental: { newestFirstBy: 'created_at' },
  },
})

export default overGraphql(rest, {
  raw: 'github_graphql_deployment',
  collect: {
    ...list,
    completes: completions,
    incremental: {
      newestFirstBy: 'createdAt',
      lookBack: { days: DAYS_OF_CHANGE, changedBy: 'updatedAt' },
      refetch: {
        where: UNFINISHED,
        atOnce: 100,
        request: (_row, context, rows) => ask(context, someQuery, { ids: rows.map(({ id }) => id) }, true),
        records: ({ data }) => nodesIn(data),
      },
    },
  },
  writes: [commits, repoAccounts],
  edition: 2,
  lookups: { refs: byKey(deploymentRefs, 'id', ({ id, Id }) => id ?? Id) },
  *rows(deployment, context) {
    const ref = context.lookups.refs.get(deployment.id)
    yield context.read(deployments, deployment, ref && { ref_name: ref.ref_name })
    if (deployment.commit?.oid) yield* commitRows(commitOf(deployment.commit, context), context)
  },
})
