import rest, { deployments, UNFINISHED } from '../entities/deployments.ts'
import { ask, completion, innerList, nodesIn, nodesQuery, overGraphql, repositoryList } from './kit.ts'

const STATUS = 'state updatedAt'
const DEPLOYMENT = `id databaseId task environment state description payload commitOid createdAt updatedAt ref { name }
  commit { message } repository { id name url } latestStatus { ${STATUS} } ${innerList('statuses', STATUS)}`

export const { query, ...list } = repositoryList('deployments', { size: 100, order: 'CREATED_AT', fields: DEPLOYMENT })
export const someQuery = nodesQuery('Deployment', DEPLOYMENT)
export const completions = [completion('Deployment', 'statuses', STATUS)]

export default overGraphql(rest, {
  raw: 'github_graphql_deployment',
  collect: {
    ...list,
    completes: completions,
    incremental: {
      newestFirstBy: 'createdAt',
      refetch: {
        where: UNFINISHED,
        atOnce: 100,
        request: (rows, context) => ask(context, someQuery, { ids: rows.map(({ id }: { id: string }) => id) }, true),
        records: ({ data }) => nodesIn(data),
      },
    },
  },
  rows: (deployment, { read }) => [read(deployments, deployment)],
})
