/** The messages that may be sent to a webhook connection. */
import type { Delivery, Message } from '../../plugin-kit/index.ts'
import { closeIssue } from './close-issue.ts'
import { deploymentMessage } from './entities/deployments.ts'
import { issueMessage } from './entities/issues.ts'
import { pullRequestMessage } from './entities/pull-requests.ts'

const SHA = '0123456789abcdef0123456789abcdef01234567'
const WHILE = { startedDate: '2026-01-31T12:00:00Z', finishedDate: '2026-01-31T12:05:00Z' }

const delivery = (path: string, title: string, message: Message, example: object): Delivery => ({
  path,
  summary: (where) => `Send ${title} to ${where}; a later message replaces an earlier one`,
  message,
  example,
  take: (inbox, { body, url }) => inbox.take(message.entity, body, url),
})

export const deliveries: readonly Delivery[] = [
  {
    ...delivery('deployments', 'a deployment and its commits', deploymentMessage, {
      id: 'deployment-1',
      ...WHILE,
      deploymentCommits: [{ repoUrl: 'https://github.com/acme/shop', commitSha: SHA, ...WHILE }],
    }),
    isOfProject: true,
  },
  delivery('pull_requests', 'a pull request', pullRequestMessage, {
    pullRequestKey: 7,
    id: 'pull-request-7',
    displayTitle: 'Faster checkout',
    createdDate: WHILE.startedDate,
  }),
  delivery('issues', 'an issue, or an incident', issueMessage, {
    issueKey: 'SHOP-1',
    title: 'Checkout is down',
    status: 'TODO',
    originalStatus: 'Open',
    createdDate: WHILE.startedDate,
  }),
  {
    path: 'issue/:issueKey/close',
    summary: (where) => `Tell ${where} that an issue was closed just now`,
    take: (inbox, { params, url }) => closeIssue(inbox, params.issueKey ?? '', url),
  },
]

/** DevLake shows the last two as well, although it has no routes for them. */
export const endpoints = {
  postIssuesEndpoint: 'issues',
  closeIssuesEndpoint: 'issue/:issueKey/close',
  postPullRequestsEndpoint: 'pull_requests',
  postPipelineDeployTaskEndpoint: 'deployments',
  postPipelineTaskEndpoint: 'cicd_tasks',
  closePipelineEndpoint: 'cicd_pipeline/:pipelineName/finish',
}
