import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { recordUse } from '../../control-plane/connections/connection-states.ts'
import { type TestResult, testConnection } from '../../control-plane/connections/test-connection.ts'
import type { Database } from '../../database/database.ts'
import { UserError } from '../../errors.ts'
import type { Settings } from '../../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { id } from '../../plugin-kit/spec/request-values.ts'
import type { Api, ApiContext } from '../api.ts'
import { answers, REMOTE_FAILURES } from '../contract/common.ts'
import { connectionAnswer, connectionBody, newConnection } from '../contract/plugin-fields.ts'
import { unlessChanged } from '../contract/seen.ts'
import { failureOf } from '../envelope.ts'
import { patience, stopWith } from '../stream.ts'

export const connectionParameter = z.object({ connectionId: id })

const tested = z.looseObject({ success: z.boolean(), message: z.string() })

function connectionContract(source: PluginSpec) {
  const { name: plugin, title, connection } = source
  const tags = [plugin]
  const base = `/plugins/${plugin}`
  const bodySchema = connectionBody(connection.fields)
  const answerSchema = connectionAnswer(connection.fields)
  const params = connectionParameter
  return { source, plugin, title, connection, tags, base, bodySchema, answerSchema, params }
}
type ConnectionContract = ReturnType<typeof connectionContract>

function settingRoutes(
  api: Api,
  { plugin, title, connection, tags, base, bodySchema, answerSchema, params }: ConnectionContract,
  { services, servicesFor }: ApiContext,
): void {
  api.get(
    `${base}/connections`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: `${title} connections, secrets masked`, response: answers(200, z.array(answerSchema)) },
    },
    () => services.connections.list(plugin),
  )
  api.post(
    `${base}/connections`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: `Create a ${title} connection`,
        body: newConnection(connection.fields),
        response: answers(201, answerSchema),
      },
    },
    async (request, reply) => reply.code(201).send(await servicesFor(request).connections.create(plugin, request.body)),
  )
  api.get(
    `${base}/connections/:connectionId`,
    {
      config: { least: 'viewer', reach: 'everywhere', size: 'none', cost: 'light' },
      schema: { tags, summary: `One ${title} connection`, params, response: answers(200, answerSchema, 404) },
    },
    (request) => services.connections.get(plugin, request.params.connectionId),
  )
  api.patch(
    `${base}/connections/:connectionId`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: `Change a ${title} connection; a masked or empty secret keeps the stored one`,
        params,
        headers: unlessChanged,
        body: bodySchema,
        response: answers(200, answerSchema, 404, 412),
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
      config: { least: 'admin', reach: 'everywhere', size: 'small', cost: 'light' },
      schema: {
        tags,
        summary: `Delete a ${title} connection and its scope configs`,
        params,
        response: answers(200, answerSchema, 404, 409),
      },
    },
    (request) => servicesFor(request).connections.remove(plugin, request.params.connectionId),
  )
}

function testRoutes(
  api: Api,
  { source, plugin, title, tags, base, bodySchema, params }: ConnectionContract,
  { config, database, services }: ApiContext,
): void {
  async function test(settings: Settings, isSaved: boolean, reply: FastifyReply): Promise<TestResult> {
    const how = { isSaved, signal: patience(stopWith(reply)) }
    const result = testConnection(source, settings, services.connections, how)
    return config.hidesTestFailures ? withoutReason(result, database) : result
  }
  /** Tests the stored connection. The result is recorded and shown with the connection. */
  async function testStored(connectionId: number, settings: Settings, reply: FastifyReply): Promise<TestResult> {
    const recordResult = (found: Partial<TestResult>) => {
      const { success = false, message = '', requestsLeft } = found
      const used = { plugin, connectionId, ...(success ? { requestsLeft } : { failure: message }) }
      return recordUse(database.kysely, used)
    }
    const result = await test(settings, true, reply).catch(async (error) => {
      const { status, body } = failureOf(error, database)
      // If the client has hung up, the failure says nothing about the connection.
      if (status < 500 || !reply.raw.destroyed) await recordResult({ message: body.message })
      throw error
    })
    await recordResult(result)
    return result
  }
  api.post(
    `${base}/test`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: `Try ${title} settings before they are saved`,
        body: bodySchema,
        response: answers(200, tested, 403, 404, ...REMOTE_FAILURES),
      },
    },
    ({ body }, reply) => test({ ...services.connections.check(plugin, body), ...calledBy(body) }, false, reply),
  )
  api.post(
    `${base}/connections/:connectionId/test`,
    {
      config: { least: 'admin', reach: 'everywhere', size: 'settings', cost: 'light' },
      schema: {
        tags,
        summary: `Try a saved ${title} connection, with changes if any are sent`,
        params,
        body: bodySchema,
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

/** The name that the connection is going to have: messages of the test already use it. */
const calledBy = ({ name }: { readonly name?: unknown }) =>
  typeof name === 'string' && name.trim() !== '' ? { name: name.trim() } : {}

/** Connections of one data source. */
export function connectionRoutes(api: Api, source: PluginSpec, context: ApiContext): void {
  const contract = connectionContract(source)
  settingRoutes(api, contract, context)
  testRoutes(api, contract, context)
}

/** Clients of DevLake expect 400 for an unknown connection here, and only here. */
const asBadInput = (error: unknown) =>
  Promise.reject(error instanceof UserError && error.status === 404 ? new UserError(error.message) : error)

const withoutNull = (body: object) => Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))

const HIDDEN =
  'The connection test failed. The reason is hidden (WRAP_RESPONSE_ERROR); an administrator sees it with: npx weir doctor'

/** For installations that hide what servers say about themselves, since it may help to explore a network. */
async function withoutReason(result: Promise<TestResult>, database: Database): Promise<TestResult> {
  const found = await result.catch((error) =>
    Promise.reject(new UserError(HIDDEN, { status: failureOf(error, database).status })),
  )
  return found.success ? found : { code: 0, causes: null, data: null, success: false, message: HIDDEN }
}
