import { repos } from '../../domain/code.ts'
import { cicdScopes } from '../../domain/devops.ts'
import { domainId } from '../../domain/ids.ts'
import { boards } from '../../domain/ticket.ts'
import { definePushSource } from '../../plugin-kit/index.ts'
import { deliveries, endpoints } from './deliveries.ts'
import deploymentCommits from './entities/deployment-commits.ts'
import deployments from './entities/deployments.ts'
import issues from './entities/issues.ts'
import pullRequests from './entities/pull-requests.ts'

export const webhook = definePushSource({
  name: 'webhook',
  title: 'Webhook',
  about: 'Deployments, pull requests and incidents that your own tools send.',
  rights: ['Each connection has an API key of its own, which is shown once, when the connection is made.'],
  spelling: 'camel',
  scopes: ({ id, name }) =>
    [cicdScopes, boards, repos].map((table) => table.row({ id: domainId('webhook', id), name })),
  deliveries,
  endpoints,
  entities: [deployments, deploymentCommits, issues, pullRequests],
})
