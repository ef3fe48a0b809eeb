import { UserError } from '../../errors.ts'
import { type ApiClient, HttpFatalError } from '../../plugin-kit/http/index.ts'
import type { Settings } from '../../plugin-kit/spec/fields.ts'
import type { PluginSpec } from '../../plugin-kit/spec/plugin.ts'
import { type CheckConnection, notThere, readAnswer } from '../../plugin-kit/spec/remote-scopes.ts'
import { openAwaitedClient } from '../../plugin-kit/task/connection.ts'
import { maskSecret } from '../../secrets/secrets.ts'
import type { ConnectionService } from '../services.ts'

export interface TestResult extends Settings {
  readonly success: boolean
  readonly message: string
  /** The number of requests that the source still allows for all credentials together, where it says so. */
  readonly requestsLeft?: number
}

/** Sends requests to the source with these unmasked settings. Throws an error that says what is wrong with them. */
export async function testConnection(
  source: PluginSpec,
  settings: Settings,
  { mask }: Pick<ConnectionService, 'mask'>,
  how: { readonly isSaved: boolean; readonly signal: AbortSignal },
): Promise<TestResult> {
  const { check = checkBy(source) } = source.connection
  const clients: ApiClient[] = []
  const open = (each: Settings) => {
    const client = openAwaitedClient(source, each)
    clients.push(client)
    return client
  }
  const found = await readAnswer(source.title, () => check(settings, { ...how, open, mask: maskSecret })).catch(
    (error) => Promise.reject(explained(error, source)),
  )
  const { success, message = success ? 'success' : '', details = { Connection: mask(source.name, settings) } } = found
  const left = clients.flatMap(({ requestsLeft }) => requestsLeft ?? [])
  const requestsLeft = left.length > 0 && { requestsLeft: left.reduce((sum, each) => sum + each) }
  return { code: 0, causes: null, data: null, success, message, ...details, ...requestsLeft }
}

/** Checks with one request, for sources where that is enough. */
const checkBy =
  ({ title, connection: { test = { path: '' }, knows = () => true } }: PluginSpec): CheckConnection =>
  async (settings, { open, signal }) => {
    const client = open(settings)
    try {
      const { body } = await client.send(test, signal)
      const isAnswer = body !== null && typeof body === 'object' && knows(body)
      if (!isAnswer) throw notThere(title)
      return { success: true }
    } finally {
      await client.close()
    }
  }

/** When a server answers but does not have what the source should have, the endpoint is probably wrong. */
function explained(error: unknown, { connection }: PluginSpec): unknown {
  if (!(error instanceof HttpFatalError) || !error.status || error.status < 400) return error
  const help = connection.fields.endpoint?.help ?? `It usually is ${connection.endpoint}.`
  return new UserError(`${error.message}. Check the endpoint. ${help}`, {
    status: error.status === 404 ? 404 : 400,
    cause: error,
  })
}
