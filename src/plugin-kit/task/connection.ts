/** Opens a stored connection: decrypts its settings, and makes a client that shares its pace with all other clients of it. */
import { readConfig } from '../../config/config.ts'
import { readAll } from '../../database/read.ts'
import { UserError } from '../../errors.ts'
import {
  type ApiClient,
  type ApiClientOptions,
  type Credential,
  createApiClient,
  createSharedConnections,
  type HttpEvent,
} from '../http/index.ts'
import type { Settings } from '../spec/fields.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import type { TaskRun } from '../spec/subtask.ts'
import { ownerOf } from './family.ts'
import { rotates, rotatingCredential, withTokenStore } from './rotating-tokens.ts'
import { settingsTables } from './settings-tables.ts'

interface Secrets extends Pick<TaskRun, 'database'> {
  readonly decrypt?: TaskRun['decrypt'] | undefined
  readonly encrypt?: TaskRun['encrypt'] | undefined
}

export async function connectionSettings(plugin: PluginSpec, id: number, secrets: Secrets): Promise<Settings> {
  const { database, decrypt, encrypt } = secrets
  const { connections, settingsOf } = settingsTables(plugin)
  const [row] = await readAll(database, { table: connections, where: { id } })
  if (!row) throw new UserError(`${plugin.title} has no connection ${id}. Create it first.`, { status: 404 })
  const settings = settingsOf(connections, row)
  const decrypted = Object.entries(plugin.connection.fields)
    // An address is encrypted too, because it may contain a password.
    .filter(([name, { kind }]) => (kind === 'secret' || kind === 'url') && settings[name])
    .map(([name]) => [name, decrypt ? decrypt(settings[name]) : settings[name]])
  const opened = { ...settings, ...Object.fromEntries(decrypted), id, name: row.name }
  return withTokenStore(plugin, opened, { id, database, decrypt, encrypt })
}

/** The credentials with which requests of a connection are signed. */
export function credentialsOf(plugin: PluginSpec, settings: Settings): readonly Credential[] {
  const { connection, title } = plugin
  if (!rotates(plugin, settings)) return connection.credentials?.(settings) ?? tokensOf(settings)
  const way = (current: Settings) => ({
    ...wayOf(current, { title, endpoint: connection.endpoint }),
    hosts: connection.hosts?.(current) ?? [],
    ...(connection.headers && { headers: connection.headers }),
  })
  return [rotatingCredential(plugin, settings, { way, read: connectionSettings })]
}

/** Text that must never appear in a message. It is more than the credentials: servers also quote other secrets. */
const secretsOf = ({ connection: { fields } }: PluginSpec, settings: Settings): string[] =>
  Object.entries(fields)
    .filter(([name, { kind }]) => kind === 'secret' && settings[name])
    .flatMap(([name]) =>
      String(settings[name])
        .split(',')
        .map((part) => part.trim()),
    )

/** Clients of one connection share pacing and quota until the process ends. */
const shared = createSharedConnections()

type Way = Pick<ApiClientOptions, 'connection' | 'endpoint' | 'proxy' | 'trustsAnyCertificate' | 'timeouts' | 'retries'>

/** Settings that apply to every request of a connection, whatever its credential: address, proxy, timeouts, retries. */
export function wayOf(settings: Settings, { title, endpoint }: { title: string; endpoint: string }): Way {
  const { apiTimeoutMs, apiRetry, trustsAnyCertificate } = readConfig(process.env)
  return {
    connection: String(settings.name || title),
    endpoint: settings.endpoint || endpoint,
    proxy: withoutPath(settings.proxy),
    trustsAnyCertificate,
    timeouts: { totalMs: apiTimeoutMs },
    retries: apiRetry,
  }
}

/** Makes a client for settings that are stored (`id` set) or are only being tried. */
export function openClient(
  plugin: PluginSpec,
  settings: Settings,
  onEvent: (event: HttpEvent) => void = () => {},
  overrides: Partial<Pick<ApiClientOptions, 'retries' | 'timeouts' | 'store' | 'maxResponseBytes' | 'mostValues'>> = {},
): ApiClient {
  const { connection } = plugin
  const { apiRequestsPerHour } = readConfig(process.env)
  const limit = Number(settings.rateLimitPerHour) || (connection.limits?.quota ? undefined : apiRequestsPerHour)
  return createApiClient({
    ...wayOf(settings, { title: plugin.title, endpoint: connection.endpoint }),
    hosts: connection.hosts?.(settings) ?? [],
    secrets: secretsOf(plugin, settings),
    credentials: credentialsOf(plugin, settings),
    sign: (credential) => connection.sign?.(credential, settings) ?? { authorization: `Bearer ${credential}` },
    ...(connection.headers && { headers: connection.headers }),
    ...(connection.asksToSignIn && { asksToSignIn: connection.asksToSignIn }),
    limits: { ...connection.limits, ...(limit && { requestsPerHour: limit }) },
    ...(settings.id && { share: { connections: shared, key: `${ownerOf(plugin).name}:${settings.id}` } }),
    onEvent,
    ...overrides,
  })
}

/**
 * Makes a client for the few requests that a user waits for. It reports a failure at once, without further attempts, and is not
 * slowed down by the pace of collections.
 */
export const openAwaitedClient = (plugin: PluginSpec, settings: Settings): ApiClient =>
  openClient(plugin, { ...settings, id: undefined, rateLimitPerHour: 0 }, undefined, {
    retries: 0,
    timeouts: { connectMs: 5000, totalMs: 20_000 },
    // These answers are read in the thread that answers all requests, so they are limited: a source may send anything.
    maxResponseBytes: 8 * 1024 * 1024,
    mostValues: 200_000,
  })

const tokensOf = ({ token = '' }: Settings): string[] =>
  String(token)
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '')

/** Removes a slash or path after a proxy's port. People paste them, but a proxy has neither. */
function withoutPath(proxy: string | undefined): string | undefined {
  const url = URL.parse(proxy ?? '')
  if (!url) return proxy
  const { protocol, username, password, host } = url
  const user = username && `${username}${password && `:${password}`}@`
  return `${protocol}//${user}${host}`
}
