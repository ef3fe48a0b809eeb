import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { recordChange } from '../../audit/record.ts'
import { type Feed, type Inbox, type Message, receive } from '../../plugin-kit/feed.ts'
import { closeIssue } from '../../plugins/webhook/close-issue.ts'
import { deploymentMessage } from '../../plugins/webhook/entities/deployments.ts'
import { issueMessage } from '../../plugins/webhook/entities/issues.ts'
import { pullRequestMessage } from '../../plugins/webhook/entities/pull-requests.ts'
import { webhook } from '../../plugins/webhook/plugin.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, example, success } from '../contract/common.ts'
import { messageBody } from '../contract/message-body.ts'
import { done } from '../envelope.ts'
import { deliveryKeeper } from './webhook-deliveries.ts'
import { BY_ID, BY_NAME, BY_PROJECT, BY_SHORT_ID, type Place, WEBHOOK } from './webhook-places.ts'

const tags = [WEBHOOK]
const CONNECTIONS = [BY_ID, BY_SHORT_ID, BY_NAME]

interface Kind {
  readonly path: string
  readonly title: string
  readonly message: Message
  readonly places: readonly Place[]
  readonly example: object
}
const SHA = '0123456789abcdef0123456789abcdef01234567'
const WHILE = { startedDate: '2026-01-31T12:00:00Z', finishedDate: '2026-01-31T12:05:00Z' }
const KINDS: readonly Kind[] = [
  {
    path: 'deployments',
    title: 'a deployment and its commits',
    message: deploymentMessage,
    places: [...CONNECTIONS, BY_PROJECT],
    example: {
      id: 'deployment-1',
      ...WHILE,
      deploymentCommits: [{ repoUrl: 'https://github.com/acme/shop', commitSha: SHA, ...WHILE }],
    },
  },
  {
    path: 'pull_requests',
    title: 'a pull request',
    message: pullRequestMessage,
    places: CONNECTIONS,
    example: {
      pullRequestKey: 7,
      id: 'pull-request-7',
      displayTitle: 'Faster checkout',
      createdDate: WHILE.startedDate,
    },
  },
  {
    path: 'issues',
    title: 'an issue, or an incident',
    message: issueMessage,
    places: CONNECTIONS,
    example: {
      issueKey: 'SHOP-1',
      title: 'Checkout is down',
      status: 'TODO',
      originalStatus: 'Open',
      createdDate: WHILE.startedDate,
    },
  },
]

export const webhookMessageRoutes: Routes = (api, context) => {
  const { database, servicesFor } = context
  const keeper = deliveryKeeper(context)
  const response = answers(200, success, 404)
  const open = (request: FastifyRequest, connectionId: number, what: string, body: (inbox: Inbox) => Promise<void>) =>
    receive(database, webhook.feed as Feed, connectionId, async (inbox) => {
      await body(inbox)
      const change = { action: 'push', subject: `${WEBHOOK} ${what}`, key: String(connectionId) } as const
      await recordChange(inbox.database.kysely, actorOf(request), { ...change, before: null, after: null })
    })

  for (const { path, title, message, places, example: value } of KINDS) {
    const body = messageBody(message).meta(example(value))
    for (const each of places) {
      const { path: place, title: where, params, connectionId } = each
      api.post(
        `${place}/${path}`,
        {
          schema: { tags, summary: `Tell ${where} of ${title}; the last word counts`, params, body, response },
          onSend: keeper(path, each),
        },
        async (request) => {
          const id = await connectionId(servicesFor(request), request)
          await open(request, id, path, (inbox) => inbox.take(message.entity, request.body, request.url))
          return done()
        },
      )
    }
  }
  for (const each of CONNECTIONS) {
    const { path, title, params, connectionId } = each
    api.post(
      `${path}/issue/:issueKey/close`,
      {
        schema: {
          tags,
          summary: `Tell ${title} that an issue is closed, now`,
          params: params.extend({ issueKey: z.string() }),
          response,
        },
        onSend: keeper('issue/close', each),
      },
      async (request) => {
        const id = await connectionId(servicesFor(request), request)
        const { issueKey } = request.params as { issueKey: string }
        await open(request, id, 'issue/close', (inbox) => closeIssue(inbox, issueKey, request.url))
        return done()
      },
    )
  }
}
