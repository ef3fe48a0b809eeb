import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import type { Database } from '../../database/database.ts'
import { UserError } from '../../errors.ts'
import { noteUse } from '../../pipelines/connection-states.ts'
import { type TestResult, testConnection } from '../../pipelines/test-connection.ts'
import type { PluginSpec, Settings } from '../../plugin-kit/plugin.ts'
import type { Api, ApiContext } from '../api.ts'
import { answers, id, REMOTE_FAILURES } from '../contract/common.ts'
import { newConnection, sentConnection, shownConnection } from '../contract/plugin-fields.ts'
import { unlessChanged } from '../contract/seen.ts'
import { failureOf } from '../envelope.ts'
import { patience, stopWith } from '../stream.ts'

export const connectionParameter = z.object({ connectionId: id })

/** Connections of one data source. */
export function connectionRoutes(
  api: Api,
  source: PluginSpec,
  { config, database, services, servicesFor }: ApiContext,
): void {
  const { name: plugin, title, connection } = source
  const tags = [plugin]
  const base = `/plugins/${plugin}`
  const sent = sentConnection(connection.fields)
  const shown = shownConnection(connection.fields)
  const params = connectionParameter
  const tested = z.looseObject({ success: z.boolean(), message: z.string() })

  async function test(settings: Settings, isSaved: boolean, reply: FastifyReply): Promise<TestResult> {
    const how = { isSaved, signal: patience(stopWith(reply)) }
    const result = testConnection(source, settings, services.connections, how)
    return config.hidesTestFailures ? withoutReason(result, database) : result
  }
  /** As stored: what comes of it is shown with the connection. */
  async function testStored(connectionId: number, settings: Settings, reply: FastifyReply): Promise<TestResult> {
    const note = (found: Partial<TestResult>) => {
      const { success = false, message = '', requestsLeft } = found
      const used = { plugin, connectionId, ...(success ? { requestsLeft } : { failure: message }) }
      return noteUse(database.kysely, used)
    }
    const result = await test(settings, true, reply).catch(async (error) => {
      const { status, body } = failureOf(error, database)
      // Whoever asked has gone: that says nothing.
      if (status < 500 || !reply.raw.destroyed) await note({ message: body.message })
      throw error
    })
    await note(result)
    return result
  }

  api.get(
    `${base}/connections`,
    { schema: { tags, summary: `${title} connections, secrets masked`, response: answers(200, z.array(shown)) } },
    () => services.connections.list(plugin),
  )
  api.post(
    `${base}/connections`,
    {
      schema: {
        tags,
        summary: `Create a ${title} connection`,
        body: newConnection(connection.fields),
        response: answers(201, shown),
      },
    },
    async (request, reply) => reply.code(201).send(await servicesFor(request).connections.create(plugin, request.body)),
  )
  api.get(
    `${base}/connections/:connectionId`,
    { schema: { tags, summary: `One ${title} connection`, params, response: answers(200, shown, 404) } },
    (request) => services.connections.get(plugin, request.params.connectionId),
  )
  api.patch(
    `${base}/connections/:connectionId`,
    {
      schema: {
        tags,
        summary: `Change a ${title} connection; a masked or empty secret keeps the stored one`,
        params,
        headers: unlessChanged,
        body: sent,
        response: answers(200, shown, 404, 412),
      },
    },
    (request) => {
      const { connectionId } = request.params
      return servicesFor(request).connections.update(plugin, connectionId, request.body, request.headers['if-match'])
    },
  )
  api.delete(
    `${base}/connections/:connectionId`,
    {
      schema: {
        tags,
        summary: `Delete a ${title} connection and its scope configs`,
        params,
        response: answers(200, shown, 404, 409),
      },
    },
    (request) => servicesFor(request).connections.remove(plugin, request.params.connectionId),
  )
  api.post(
    `${base}/test`,
    {
      schema: {
        tags,
        summary: `Try ${title} settings before they are saved`,
        body: sent,
        response: answers(200, tested, 403, 404, ...REMOTE_FAILURES),
      },
    },
    ({ body }, reply) => test(services.connections.check(plugin, body), false, reply),
  )
  api.post(
    `${base}/connections/:connectionId/test`,
    {
      schema: {
        tags,
        summary: `Try a saved ${title} connection, with changes if any are sent`,
        params,
        body: sent,
        response: answers(200, tested, 403, 404, ...REMOTE_FAILURES),
      },
    },
    async ({ params: { connectionId }, body }, reply) => {
      const changes = withoutNull(body)
      const settings = await services.connections.reveal(plugin, connectionId, changes).catch(asBadInput)
      return Object.keys(changes).length > 0 ? test(settings, true, reply) : testStored(connectionId, settings, reply)
    },
  )
}

/** Clients of the reference expect 400 for an unknown connection here, and only here. */
const asBadInput = (error: unknown) =>
  Promise.reject(error instanceof UserError && error.status === 404 ? new UserError(error.message) : error)

const withoutNull = (body: object) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

const HIDDEN =
  'The connection test failed; why is hidden (WRAP_RESPONSE_ERROR). Whoever runs Weir sees it with: npx weir doctor'

/** For those who fear that what a server says of itself helps to explore a network. */
async function withoutReason(result: Promise<TestResult>, database: Database): Promise<TestResult> {
  const found = await result.catch((error) =>
    Promise.reject(new UserError(HIDDEN, { status: failureOf(error, database).status })),
  )
  return found.success ? found : { code: 0, causes: null, data: null, success: false, message: HIDDEN }
}
