import { z } from 'zod'
import { forgetMessages } from '../../control-plane/connections/deliveries.ts'
import type { Connection } from '../../control-plane/records.ts'
import type { PushSource } from '../../plugin-kit/spec/push-source.ts'
import { type ApiKey, apiKey, apiKeyService } from '../access/api-keys.ts'
import { actorOf } from '../access/gate.ts'
import type { Api, ApiContext } from '../api.ts'
import { answers, success } from '../contract/common.ts'
import { connectionAnswer, connectionBody, newConnection } from '../contract/plugin-fields.ts'
import { done } from '../envelope.ts'
import type { Places } from './push-places.ts'

const keyPurpose = (connectionId: number) => `connectionId:${connectionId}`

export function pushConnectionRoutes(
  api: Api,
  { name: plugin, title: source, endpoints: paths }: PushSource,
  { byId, byName }: Places,
  { database, secrets, services, servicesFor }: ApiContext,
): void {
  const tags = [plugin]
  const base = `/plugins/${plugin}/connections`
  const keyType = `plugin:${plugin}`
  const keys = apiKeyService(database, secrets)
  const bare = connectionAnswer({})
  const endpoints = Object.fromEntries(Object.keys(paths).map((name) => [name, z.string()]))
  const whole = bare.extend({ ...endpoints, apiKey: apiKey.optional() })
  const body = connectionBody({})
  const withEndpoints = (connection: Connection, key: ApiKey | undefined) => {
    const endpoint = Object.entries(paths).map(([name, path]) => [name, `/rest${base}/${connection.id}/${path}`])
    return { ...connection, ...Object.fromEntries(endpoint), ...(key && { apiKey: key }) }
  }
  const keyOf = async (connectionId: number) =>
    (await keys.listOf(keyType)).find(({ extra }) => extra === keyPurpose(connectionId))

  api.get(
    base,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: `${source} connections, each with its API key`, response: answers(200, z.array(whole)) },
    },
    async () => {
      const [connections, known] = await Promise.all([services.connections.list(plugin), keys.listOf(keyType)])
      const byPurpose = new Map(known.map((key) => [key.extra, key]))
      return connections.map((each) => withEndpoints(each, byPurpose.get(keyPurpose(each.id))))
    },
  )
  api.post(
    base,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: `Create a ${plugin} connection and an API key for it; only this answer shows the key`,
        body: newConnection({}),
        response: answers(200, whole),
      },
    },
    async (request) => {
      const { connections } = servicesFor(request)
      const connection = await connections.create(plugin, request.body)
      const { id } = connection
      const allowedPath = `${base}/${id}/.*`
      const key = { name: `${plugin}-${id}`, type: keyType, allowedPath, extra: keyPurpose(id) }
      try {
        return withEndpoints(connection, await keys.create(key, actorOf(request)))
      } catch (error) {
        await connections.remove(plugin, id)
        throw error
      }
    },
  )

  for (const { path, params, title, connectionId } of [byId, byName]) {
    api.get(
      path,
      {
        config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
        schema: { tags, summary: `Show ${title}`, params, response: answers(200, whole, 404) },
      },
      async (request) => {
        const id = await connectionId(services, request)
        return withEndpoints(await services.connections.get(plugin, id), await keyOf(id))
      },
    )
    api.patch(
      path,
      {
        config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
        schema: { tags, summary: `Rename ${title}`, params, body, response: answers(200, bare, 404) },
      },
      async (request) => {
        const id = await connectionId(services, request)
        return servicesFor(request).connections.update(plugin, id, request.body)
      },
    )
    api.delete(
      path,
      {
        config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
        schema: {
          tags,
          summary: `Delete ${title}, with its API key; what was sent stays`,
          params,
          response: answers(200, success, 404),
        },
      },
      async (request) => {
        const id = await connectionId(services, request)
        await servicesFor(request).connections.remove(plugin, id)
        const key = await keyOf(id)
        if (key) await keys.remove(key.id, actorOf(request))
        await forgetMessages(database.kysely, id)
        return done()
      },
    )
  }
}
