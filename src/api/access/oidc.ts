/** Sign-in with OpenID Connect: authorization code with PKCE. */
import * as client from 'openid-client'
import { byName } from '../../basics/by-name.ts'
import type { Config, OidcProvider } from '../../config/config.ts'
import type { Database } from '../../database/database.ts'
import { isDuplicate } from '../../database/explain.ts'
import { messageOf, UserError } from '../../errors.ts'
import { guardedFetch } from '../../plugin-kit/http/index.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import { usedSignIns } from '../../system/access.ts'
import { isOwnAddress } from '../addresses.ts'
import { accessMode } from './access-token.ts'
import { grantsOfGroups } from './roles.ts'
import type { Session } from './sessions.ts'
import { signerFor } from './signed.ts'

export const STATE_COOKIE = 'devlake_oauth_state'
export const STATE_MINUTES = 10

interface State {
  readonly provider: string
  readonly returnUrl: string
  readonly verifier: string
  readonly state: string
  readonly nonce: string
}

interface Oidc {
  readonly providers: readonly OidcProvider[]
  /** Returns the address to send the browser to, and the cookie that it keeps until it comes back. */
  begin(
    provider: string | undefined,
    returnUrl: string,
  ): Promise<{ readonly location: string; readonly cookie: string }>
  finish(cookie: string | undefined, search: string): Promise<{ readonly session: Session; readonly returnUrl: string }>
  /** The address at the provider that signs the user out; undefined if the provider has none. */
  endSession(provider: string): Promise<string | undefined>
}

export const localPath = (path: string | undefined): string => (path && isOwnAddress(path) ? path : '/')

const isLoopback = (url: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)

/** Empty while sign-in with OIDC is off. */
export const providersOf = (config: Config): readonly OidcProvider[] =>
  accessMode(config) === 'oidc' || config.oidcEnabled ? config.oidc : []

/** The reason why a user is refused; undefined if they are let in. Checked at each request, so that a changed list applies at once. */
export function refusalOf(provider: OidcProvider, { email, groups }: Pick<Session, 'email' | 'groups'>) {
  const { allowedDomains, allowedEmails, allowedGroups, roles } = provider
  const isEqual = (text: string) => (other: string) => text.toLowerCase() === other.toLowerCase()
  const domain = email.slice(email.lastIndexOf('@') + 1)
  if (allowedDomains.length + allowedEmails.length > 0) {
    const isNamed = email.includes('@') && (allowedEmails.some(isEqual(email)) || allowedDomains.some(isEqual(domain)))
    if (!isNamed) return 'this e-mail address is not on the list of those who may sign in'
  }
  if (allowedGroups.length > 0 && !allowedGroups.some((group) => groups.includes(group))) {
    return 'none of your groups is on the list of those that may sign in'
  }
  return grantsOfGroups(roles, groups).length > 0 ? undefined : 'none of your groups has a role here'
}

export function openOidc(config: Config, { kysely }: Database, secrets: Secrets): Oidc {
  const providers = providersOf(config)
  const signer = signerFor<State>('sign-in', config, secrets)
  const discovered = new Map<string, Promise<client.Configuration>>()
  const providerNamed = (name: string | undefined): OidcProvider => {
    if (providers.length === 0) throw new UserError('Sign-in with OIDC is off: set OIDC_PROVIDERS.', { status: 503 })
    const found = name ? providers.find((each) => each.name === name) : providers.length === 1 && providers[0]
    if (!found) throw new UserError(`provider must be one of ${providers.map((each) => each.name).join(', ')}.`)
    return found
  }

  /** Records the attempt in the database, so that it can be finished only once, on whichever server. */
  async function useUp({ state }: State): Promise<void> {
    const now = new Date()
    await kysely.deleteFrom(usedSignIns.name).where('expires_at', '<', now).execute()
    const expires_at = new Date(now.getTime() + STATE_MINUTES * 60_000)
    try {
      await kysely.insertInto(usedSignIns.name).values({ state, expires_at }).execute()
    } catch (error) {
      throw isDuplicate(error) ? new UserError(AGAIN, { cause: error }) : error
    }
  }

  function discover(provider: OidcProvider): Promise<client.Configuration> {
    const known = discovered.get(provider.name)
    if (known) return known
    // Plain HTTP is allowed only for a provider on this machine.
    const execute = isLoopback(provider.issuerUrl) ? [client.allowInsecureRequests] : []
    const found = client.discovery(new URL(provider.issuerUrl), provider.clientId, provider.clientSecret, undefined, {
      execute,
      [client.customFetch]: guardedFetch,
    })
    discovered.set(provider.name, found)
    // A failure is forgotten, so that a provider that was down is asked again.
    found.catch(() => discovered.delete(provider.name))
    return found.catch((error) => Promise.reject(unavailable(provider, error)))
  }

  return {
    providers,
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
      }
      const location = client.buildAuthorizationUrl(configuration, {
        redirect_uri: provider.redirectUrl,
        scope: provider.scopes.join(' '),
        code_challenge: await client.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        state: kept.state,
        nonce: kept.nonce,
      })
      const expires = new Date(Date.now() + STATE_MINUTES * 60_000)
      return { location: location.href, cookie: signer.sign(kept, expires) }
    },
    async finish(cookie, search) {
      const kept = signer.read(cookie)
      if (!kept) throw new UserError(AGAIN)
      await useUp(kept)
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
      const session = await sessionOf(provider, configuration, tokens)
      const refusal = refusalOf(provider, session)
      if (refusal) throw new UserError(`${titleOf(provider)} knows you, but ${refusal}.`, { status: 403 })
      return { session, returnUrl: localPath(kept.returnUrl) }
    },
    async endSession(name) {
      const provider = providers.find((each) => each.name === name)
      if (!provider || !config.oidcLogoutRedirect) return undefined
      const configuration = await discover(provider)
      if (!configuration.serverMetadata().end_session_endpoint) return undefined
      return client.buildEndSessionUrl(configuration, { client_id: provider.clientId }).href
    },
  }
}

type Tokens = Awaited<ReturnType<typeof client.authorizationCodeGrant>>

async function sessionOf(
  provider: OidcProvider,
  configuration: client.Configuration,
  tokens: Tokens,
): Promise<Session> {
  const { groupsClaim, roles, allowedGroups } = provider
  const claims: Record<string, unknown> = byName({ ...tokens.claims() })
  const needsGroups = allowedGroups.length > 0 || roles.some(({ group }) => group !== '*')
  // Some providers list the groups only in the userinfo answer.
  if (needsGroups && claims[groupsClaim] === undefined && configuration.serverMetadata().userinfo_endpoint) {
    const more = await client
      .fetchUserInfo(configuration, tokens.access_token, String(claims.sub))
      .catch((error) => Promise.reject(refused(provider, error)))
    claims[groupsClaim] = more[groupsClaim]
  }
  const { sub = '', name, preferred_username, email_verified } = claims
  // An e-mail address that the provider has not verified could be anybody's.
  const email = String(email_verified) === 'false' ? '' : String(claims.email ?? '')
  const groups = [claims[groupsClaim] ?? []].flat().map(String)
  const displayName = String(name ?? preferred_username ?? (email || sub))
  return { sub: String(sub), name: displayName, email, provider: provider.name, groups, token_mark: '' }
}

const AGAIN = 'Sign in again: this attempt was not begun here, took too long, or has ended already.'

const titleOf = ({ displayName, name }: OidcProvider) => displayName ?? name
const unavailable = (provider: OidcProvider, error: unknown) =>
  new UserError(`${titleOf(provider)} cannot be reached for sign-in: ${messageOf(error)}.`, {
    status: 502,
    cause: error,
  })
const refused = (provider: OidcProvider, error: unknown) =>
  new UserError(`${titleOf(provider)} did not sign you in: ${messageOf(error)}.`, {
    status: 401,
    cause: error,
  })
