/**
 * Refresh tokens that rotate (OAuth): each can be used once, for an access token and the next refresh token. Both are stored in
 * the connection's row. Any process that finds the access token expired asks for the next ones; a lock allows only one at a time
 * on all servers.
 */

import { sql } from 'kysely'
import type { Database } from '../../database/database.ts'
import { knowing } from '../../database/kysely.ts'
import { UserError } from '../../errors.ts'
import { keepSecret } from '../../log.ts'
import {
  type ApiClientOptions,
  createApiClient,
  type HttpResponse,
  HttpRetryableError,
  type RefreshedCredential,
  type RefreshingCredential,
} from '../http/index.ts'
import type { Settings } from '../spec/fields.ts'
import { columnName } from '../spec/fields.ts'
import type { PluginSpec } from '../spec/plugin.ts'
import type { TaskRun } from '../spec/subtask.ts'
import { ownerOf } from './family.ts'
import { settingsTables } from './settings-tables.ts'

interface Vault extends Pick<TaskRun, 'database'> {
  readonly decrypt: TaskRun['decrypt'] | undefined
  readonly encrypt: TaskRun['encrypt'] | undefined
}
interface TokenStore extends Vault {
  readonly id: number
}
interface Asking {
  readonly way: (settings: Settings) => Omit<ApiClientOptions, 'credentials' | 'sign'>
  readonly read: (plugin: PluginSpec, id: number, vault: Vault) => Promise<Settings>
}
interface Tokens {
  readonly token: string
  readonly refreshToken: string
  readonly tokenExpiresAt: Date | null
}

const STORE = Symbol('where tokens are kept')
/** The token store travels with the settings of a stored connection, but is not one of them: never shown, never stored. */
const storeOf = (settings: Settings): TokenStore | undefined => (settings as { [STORE]?: TokenStore })[STORE]

export const rotates = ({ connection }: PluginSpec, settings: Settings): boolean =>
  connection.rotation !== undefined && connection.rotation.when?.(settings) !== false

/** Adds the token store to the settings of a stored connection. */
export const withTokenStore = <Given extends Settings>(
  plugin: PluginSpec,
  settings: Given,
  store: TokenStore,
): Given => (rotates(plugin, settings) ? { ...settings, [STORE]: store } : settings)

const lockOf = (plugin: PluginSpec, id: number) => `tokens of ${ownerOf(plugin).name}:${id}`

/** Runs `body` while no one else can change the tokens of a connection. */
export const holdingTokens = <Result>(
  database: Database,
  plugin: PluginSpec,
  id: number,
  body: () => Promise<Result>,
): Promise<Result> => (plugin.connection.rotation ? database.locked(lockOf(plugin, id), body) : body())

/** Tokens that could not be stored, by the refresh token for which they were given. That refresh token is now used up. */
const unsaved = new Map<string, Tokens>()

export function rotatingCredential(
  plugin: PluginSpec,
  settings: Settings,
  { way, read }: Asking,
): RefreshingCredential {
  const store = storeOf(settings)
  return {
    name: 'the refresh token',
    ...(settings.tokenOrigin && { version: String(settings.tokenOrigin) }),
    async refresh({ value, now } = { value: undefined, now: Date.now() }) {
      if (value === undefined && isGood(settings as Tokens, value, now)) return credentialOf(settings as Tokens)
      if (!store) {
        throw new UserError(`${plugin.title}: a refresh token works only once. Save the connection first, then test it`)
      }
      // Uses separate database connections, so that new tokens are stored even if the task and its database end meanwhile.
      return store.database.aside((own) =>
        own.locked(lockOf(plugin, store.id), async () => {
          const current = await read(plugin, store.id, { ...store, database: own })
          if (isGood(current as Tokens, value, now)) return credentialOf(current as Tokens)
          const kept = unsaved.get(current.refreshToken)
          if (kept) {
            await save(plugin, store, own, kept, current.refreshToken)
            return credentialOf(kept)
          }
          const { tokens, answeredAt } = await askForTokens(plugin, current, way(current))
          await save(plugin, store, own, tokens, current.refreshToken)
          return { ...credentialOf(tokens), ...(answeredAt && { answeredAt }) }
        }),
      )
    },
  }
}

/** True if the token can be used, by the source's clock. A token that was refused or has expired cannot, whatever its expiry time. */
const isGood = ({ token, tokenExpiresAt }: Tokens, worn: string | undefined, now: number): boolean =>
  Boolean(token) && token !== worn && (!tokenExpiresAt || new Date(tokenExpiresAt).getTime() > now)

/** Expiry if the source gives none: the token is used until the source refuses it. */
const LAST_DAY = new Date(8.64e15)
const credentialOf = ({ token, tokenExpiresAt }: Tokens): RefreshedCredential => ({
  value: token,
  expiresAt: tokenExpiresAt ? new Date(tokenExpiresAt) : LAST_DAY,
})

async function save(
  plugin: PluginSpec,
  { id, encrypt = (plain) => plain }: TokenStore,
  database: Database,
  { token, refreshToken, tokenExpiresAt }: Tokens,
  spent: string,
): Promise<void> {
  unsaved.set(spent, { token, refreshToken, tokenExpiresAt })
  const values = {
    [columnName('token')]: encrypt(token),
    [columnName('refreshToken')]: encrypt(refreshToken),
    [columnName('tokenExpiresAt')]: tokenExpiresAt,
  }
  await database.transaction(async (inside) => {
    const { commitDurably } = inside.dialect
    if (commitDurably) await sql.raw(commitDurably).execute(inside.kysely)
    const { connections } = settingsTables(plugin)
    await knowing(inside.kysely, connections).updateTable(connections.name).set(values).where('id', '=', id).execute()
  })
  unsaved.delete(spent)
}

const PATIENCE = 120_000
const REFUSALS = [400, 401, 403]

async function askForTokens(plugin: PluginSpec, settings: Settings, way: ReturnType<Asking['way']>) {
  const { fields, rotation } = plugin.connection
  const secrets = Object.keys(fields).flatMap((name) => (fields[name]?.kind === 'secret' && settings[name]) || [])
  const client = createApiClient({ ...way, secrets })
  try {
    const request = { method: 'POST', ...rotation!.request(settings), accept: REFUSALS }
    const asked = Date.now()
    const response = await client.send(request, AbortSignal.timeout(PATIENCE))
    requireTokens(plugin, String(settings.name ?? plugin.title), response)
    const { access_token, refresh_token, expires_in } = response.body
    const life = Number(expires_in)
    const answeredAt = dateOf(response)
    const begin = answeredAt?.getTime() ?? asked
    const tokens: Tokens = {
      token: access_token,
      // A refresh token that is not replaced stays valid.
      refreshToken: typeof refresh_token === 'string' && refresh_token !== '' ? refresh_token : settings.refreshToken,
      tokenExpiresAt: life > 0 ? new Date(begin + life * 1000) : null,
    }
    keepSecret(tokens.token)
    keepSecret(tokens.refreshToken)
    return { tokens, answeredAt }
  } finally {
    await client.close()
  }
}

function dateOf({ headers }: HttpResponse): Date | undefined {
  const time = Date.parse(headers.date ?? '')
  return Number.isNaN(time) ? undefined : new Date(time)
}

/** Checks the answer. Messages contain only the code of a refusal, because its description may quote the token. */
function requireTokens({ title }: PluginSpec, name: string, { status, body }: HttpResponse): void {
  const code = /^[a-z_]{1,60}$/.exec(String(body?.error ?? ''))?.[0]
  const why = code ?? String(status)
  if (code === 'temporarily_unavailable' || code === 'server_error') {
    throw new HttpRetryableError(`${title} gives no new access token now (${why})`, { status, ofConnection: true })
  }
  if (code === 'invalid_client' || code === 'unauthorized_client') {
    throw new UserError(
      `${title} does not accept the client of connection "${name}" (${why}): correct its id and secret`,
    )
  }
  if (body?.error !== undefined || REFUSALS.includes(status)) {
    throw new UserError(
      `${title} no longer accepts the refresh token of connection "${name}" (${why}): connect again, and save the new refresh token`,
    )
  }
  if (typeof body?.access_token !== 'string' || body.access_token === '') {
    throw new UserError(
      `${title} answers a refresh token with no access token: check the endpoint of connection "${name}"`,
    )
  }
}
