import { repos } from '../../domain/code.ts'
import { cicdScopes } from '../../domain/devops.ts'
import { domainId } from '../../domain/ids.ts'
import { boards } from '../../domain/ticket.ts'
import { defineFeed } from '../../plugin-kit/feed.ts'
import deploymentCommits from './entities/deployment-commits.ts'
import deployments from './entities/deployments.ts'
import issues from './entities/issues.ts'
import pullRequests from './entities/pull-requests.ts'

export const webhook = defineFeed({
  name: 'webhook',
  title: 'Webhook',
  spelling: 'camel',
  scopes: ({ id, name }) =>
    [cicdScopes, boards, repos].map((table) => table.row({ id: domainId('webhook', id), name })),
  entities: [deployments, deploymentCommits, issues, pullRequests],
})
