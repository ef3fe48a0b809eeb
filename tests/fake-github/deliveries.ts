/** The deliveries that GitHub sends about a record: https://docs.github.com/en/webhooks/webhook-events-and-payloads. */
import { createHmac, randomUUID } from 'node:crypto'
import type { FakeGithub } from './fake-github.ts'
import { fullPullRequest, pullRequest, review, reviewComment } from './rest/shape-changes.ts'
import { deployment, deploymentStatus, job, run } from './rest/shape-deliveries.ts'
import { fullRepository } from './rest/shape-repository.ts'
import { comment, isPullRequest, issue } from './rest/shape-tickets.ts'
import type { Collections } from './world/repository.ts'

export interface Delivery {
  readonly event: string
  readonly payload: any
}

type Collection = keyof Collections

/** Makes the delivery about a record. `at` is the apparent address of the API. Kinds of records without an event give nothing. */
export function deliveryOf(
  { world, url }: FakeGithub,
  repositoryName: string,
  kind: Collection,
  index: number,
  { at = url, action = 'edited' }: { at?: string; action?: string } = {},
): Delivery | undefined {
  const repository = world.repository(repositoryName)
  const on = { api: at, world }
  const item: any = repository[kind].get(index)
  if (!item) return undefined
  const whole = (event: string, own: object): Delivery => ({
    event,
    payload: { action, ...JSON.parse(JSON.stringify(own)), repository: fullRepository(on, repository) },
  })
  const pullOf = (number: number) => pullRequest(on, repository, repository.pullRequests.get(number) as never)
  switch (kind) {
    case 'issues':
      return isPullRequest(item) ? undefined : whole('issues', { issue: issue(on, repository, item) })
    case 'pullRequests':
      return whole('pull_request', { number: index, pull_request: fullPullRequest(on, repository, item) })
    case 'comments':
      return whole('issue_comment', {
        comment: comment(on, repository, item),
        issue: issue(on, repository, repository.ticket(item.number) as never),
      })
    case 'reviews': {
      const shaped = review(on, repository, item)
      // In deliveries, states are in small letters.
      return whole('pull_request_review', {
        review: { ...shaped, state: String(shaped.state).toLowerCase() },
        pull_request: pullOf(item.number),
      })
    }
    case 'reviewComments':
      return whole('pull_request_review_comment', {
        comment: reviewComment(on, repository, item),
        pull_request: pullOf(item.number),
      })
    case 'runs':
      return whole('workflow_run', { workflow_run: run(on, repository, item) })
    case 'jobs':
      return whole('workflow_job', { workflow_job: job(on, repository, item) })
    case 'deployments':
      return whole('deployment', { deployment: deployment(on, repository, item) })
    case 'statuses':
      return whole('deployment_status', {
        deployment_status: deploymentStatus(on, repository, item),
        deployment: deployment(on, repository, repository.deployments.get(item.deploymentIndex) as never),
      })
    default:
      return undefined
  }
}

/** Signs a delivery, as it is sent over HTTP. */
export function signed({ event, payload }: Delivery, secret: string, id: string = randomUUID()) {
  const body = JSON.stringify(payload)
  const signature = createHmac('sha256', secret).update(body).digest('hex')
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'GitHub-Hookshot/0a1b2c3',
      'x-github-event': event,
      'x-github-delivery': id,
      'x-hub-signature-256': `sha256=${signature}`,
    },
  }
}
