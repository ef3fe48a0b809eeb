/** Sign-in with OpenID Connect: authorization code with PKCE. */
import * as client from 'openid-client'
import type { Config, OidcProvider } from '../../config.ts'
import { messageOf, UserError } from '../../errors.ts'
import { guardedFetch } from '../../plugin-kit/http/index.ts'
import type { Secrets } from '../../secrets.ts'
import { isOwnAddress } from '../addresses.ts'
import type { Session } from './sessions.ts'

export const STATE_COOKIE = 'devlake_oauth_state'
export const STATE_MINUTES = 10

interface State {
  readonly provider: string
  readonly returnUrl: string
  readonly verifier: string
  readonly state: string
  readonly nonce: string
  readonly until: number
}

export interface Oidc {
  readonly providers: readonly OidcProvider[]
  /** Where to send the browser, and what to keep in its cookie until it comes back. */
  begin(
    provider: string | undefined,
    returnUrl: string,
  ): Promise<{ readonly location: string; readonly cookie: string }>
  finish(
    cookie: string | undefined,
    search: string,
  ): Promise<{ readonly session: Omit<Session, 'jti'>; readonly returnUrl: string }>
  /** Where signing out there begins; undefined when the provider has no such place. */
  endSession(provider: string): Promise<string | undefined>
}

export const localPath = (path: string | undefined): string => (path && isOwnAddress(path) ? path : '/')

const isLoopback = (url: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)

export function openOidc(config: Config, secrets: Secrets): Oidc {
  const discovered = new Map<string, Promise<client.Configuration>>()
  const providerNamed = (name: string | undefined): OidcProvider => {
    if (config.oidc.length === 0) throw new UserError('Sign-in with OIDC is off: set OIDC_PROVIDERS.', { status: 503 })
    const found = name ? config.oidc.find((each) => each.name === name) : config.oidc.length === 1 && config.oidc[0]
    if (!found) throw new UserError(`provider must be one of ${config.oidc.map((each) => each.name).join(', ')}.`)
    return found
  }

  function discover(provider: OidcProvider): Promise<client.Configuration> {
    const known = discovered.get(provider.name)
    if (known) return known
    // Plain HTTP is for a provider on this very machine.
    const execute = isLoopback(provider.issuerUrl) ? [client.allowInsecureRequests] : []
    const found = client.discovery(new URL(provider.issuerUrl), provider.clientId, provider.clientSecret, undefined, {
      execute,
      [client.customFetch]: guardedFetch,
    })
    discovered.set(provider.name, found)
    // A provider that was down is asked again.
    found.catch(() => discovered.delete(provider.name))
    return found.catch((error) => Promise.reject(unavailable(provider, error)))
  }

  return {
    providers: config.oidc,
    async begin(name, returnUrl) {
      const provider = providerNamed(name)
      const configuration = await discover(provider)
      const verifier = client.randomPKCECodeVerifier()
      const kept: State = {
        provider: provider.name,
        returnUrl: localPath(returnUrl),
        verifier,
        state: client.randomState(),
        nonce: client.randomNonce(),
        until: Date.now() + STATE_MINUTES * 60_000,
      }
      const location = client.buildAuthorizationUrl(configuration, {
        redirect_uri: provider.redirectUrl,
        scope: provider.scopes.join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: kept.state,
        nonce: kept.nonce,
      })
      return { location: location.href, cookie: secrets.encrypt(JSON.stringify(kept)) }
    },
    async finish(cookie, search) {
      const kept = readState(cookie, secrets)
      const provider = providerNamed(kept.provider)
      const configuration = await discover(provider)
      const callback = new URL(provider.redirectUrl)
      callback.search = search
      const tokens = await client
        .authorizationCodeGrant(configuration, callback, {
          pkceCodeVerifier: kept.verifier,
          expectedState: kept.state,
          expectedNonce: kept.nonce,
          idTokenExpected: true,
        })
        .catch((error) => Promise.reject(refused(provider, error)))
      const { sub = '', name, preferred_username, email } = (tokens.claims() ?? {}) as Record<string, any>
      const shownName = String(name ?? preferred_username ?? email ?? sub)
      const session = { sub, name: shownName, email: String(email ?? ''), provider: provider.name }
      return { session, returnUrl: kept.returnUrl }
    },
    async endSession(name) {
      const provider = config.oidc.find((each) => each.name === name)
      if (!provider || !config.oidcLogoutRedirect) return undefined
      const configuration = await discover(provider)
      if (!configuration.serverMetadata().end_session_endpoint) return undefined
      return client.buildEndSessionUrl(configuration, { client_id: provider.clientId }).href
    },
  }
}

function readState(cookie: string | undefined, secrets: Secrets): State {
  const again = 'Sign in again: this attempt was not begun here, or took too long.'
  if (!cookie) throw new UserError(again)
  let kept: State
  try {
    kept = JSON.parse(secrets.decrypt(cookie))
  } catch (error) {
    throw new UserError(again, { cause: error })
  }
  if (!(kept.until > Date.now())) throw new UserError(again)
  return kept
}

const unavailable = (provider: OidcProvider, error: unknown) =>
  new UserError(`${provider.displayName ?? provider.name} cannot be reached for sign-in: ${messageOf(error)}.`, {
    status: 502,
    cause: error,
  })
const refused = (provider: OidcProvider, error: unknown) =>
  new UserError(`${provider.displayName ?? provider.name} did not sign you in: ${messageOf(error)}.`, {
    status: 401,
    cause: error,
  })
