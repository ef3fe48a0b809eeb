import { z } from 'zod'
import type { Connection } from '../../pipelines/records.ts'
import { deleteRows } from '../../pipelines/store.ts'
import { webhookDeliveries } from '../../system/deliveries.ts'
import { type ApiKey, apiKeyService } from '../access/api-keys.ts'
import { actorOf } from '../access/gate.ts'
import type { Routes } from '../api.ts'
import { answers, success } from '../contract/common.ts'
import { newConnection, sentConnection, shownConnection } from '../contract/plugin-fields.ts'
import { apiKey } from '../contract/records.ts'
import { done } from '../envelope.ts'
import { BASE, BY_ID, BY_NAME, WEBHOOK } from './webhook-places.ts'

const tags = [WEBHOOK]
const KEY_TYPE = `plugin:${WEBHOOK}`
const keyPurpose = (connectionId: number) => `connectionId:${connectionId}`

/** Field of a shown connection → where below it to send what. The reference shows the last two, too, and has no routes for them. */
const ENDPOINTS = {
  postIssuesEndpoint: 'issues',
  closeIssuesEndpoint: 'issue/:issueKey/close',
  postPullRequestsEndpoint: 'pull_requests',
  postPipelineDeployTaskEndpoint: 'deployments',
  postPipelineTaskEndpoint: 'cicd_tasks',
  closePipelineEndpoint: 'cicd_pipeline/:pipelineName/finish',
}

function shown(connection: Connection, key: ApiKey | undefined) {
  const base = `/rest${BASE}/connections/${connection.id}`
  const endpoints = Object.entries(ENDPOINTS).map(([name, path]) => [name, `${base}/${path}`])
  return { ...connection, ...Object.fromEntries(endpoints), ...(key && { apiKey: key }) }
}

export const webhookConnectionRoutes: Routes = (api, { database, secrets, services, servicesFor }) => {
  const keys = apiKeyService(database, secrets)
  const bare = shownConnection({})
  const endpoints = Object.fromEntries(Object.keys(ENDPOINTS).map((name) => [name, z.string()]))
  const whole = bare.extend({ ...endpoints, apiKey: apiKey.optional() })
  const body = sentConnection({})
  const keyOf = async (connectionId: number) =>
    (await keys.listOf(KEY_TYPE)).find(({ extra }) => extra === keyPurpose(connectionId))

  api.get(
    `${BASE}/connections`,
    { schema: { tags, summary: 'Webhook connections, each with its API key', response: answers(200, z.array(whole)) } },
    async () => {
      const [connections, known] = await Promise.all([services.connections.list(WEBHOOK), keys.listOf(KEY_TYPE)])
      const byPurpose = new Map(known.map((key) => [key.extra, key]))
      return connections.map((each) => shown(each, byPurpose.get(keyPurpose(each.id))))
    },
  )
  api.post(
    `${BASE}/connections`,
    {
      schema: {
        tags,
        summary: 'Create a webhook connection and an API key for it; the answer shows the key, and nothing will again',
        body: newConnection({}),
        response: answers(200, whole),
      },
    },
    async (request) => {
      const { connections } = servicesFor(request)
      const connection = await connections.create(WEBHOOK, request.body)
      const { id } = connection
      const allowedPath = `${BASE}/connections/${id}/.*`
      const key = { name: `${WEBHOOK}-${id}`, type: KEY_TYPE, allowedPath, extra: keyPurpose(id) }
      try {
        return shown(connection, await keys.create(key, actorOf(request)))
      } catch (error) {
        await connections.remove(WEBHOOK, id)
        throw error
      }
    },
  )

  for (const { path, params, title, connectionId } of [BY_ID, BY_NAME]) {
    api.get(
      path,
      { schema: { tags, summary: `Show ${title}`, params, response: answers(200, whole, 404) } },
      async (request) => {
        const id = await connectionId(services, request)
        return shown(await services.connections.get(WEBHOOK, id), await keyOf(id))
      },
    )
    api.patch(
      path,
      { schema: { tags, summary: `Rename ${title}`, params, body, response: answers(200, bare, 404) } },
      async (request) => {
        const id = await connectionId(services, request)
        return servicesFor(request).connections.update(WEBHOOK, id, request.body)
      },
    )
    api.delete(
      path,
      {
        schema: {
          tags,
          summary: `Delete ${title}, with its API key; what was sent stays`,
          params,
          response: answers(200, success, 404),
        },
      },
      async (request) => {
        const id = await connectionId(services, request)
        await servicesFor(request).connections.remove(WEBHOOK, id)
        const key = await keyOf(id)
        if (key) await keys.remove(key.id, actorOf(request))
        await deleteRows(database.kysely, webhookDeliveries, { connection_id: id })
        return done()
      },
    )
  }
}
