/**
 * AUTH=token: one token allows everything. It is AUTH_TOKEN, or in a file made at first start. Further tokens allow what they
 * were granted.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import type { Config, RoleToken } from '../../config/config.ts'
import { keepSecret } from '../../log.ts'
import { makePrivate, readPrivate } from '../../secrets/private-file.ts'
import type { Secrets } from '../../secrets/secrets.ts'

type AccessMode = 'open' | 'none' | 'token' | 'oidc'

/** `open` if nothing is configured: then only this machine may send requests. */
export function accessMode({ auth, authEnabled, oidcEnabled }: Config): AccessMode {
  if (auth) return auth
  if (!authEnabled) return 'open'
  return oidcEnabled ? 'oidc' : 'token'
}

export const tokenFile = ({ dataFolder }: Config): string => join(dataFolder, 'access-token')

function accessToken(config: Config): string {
  if (config.authToken) return config.authToken
  const file = tokenFile(config)
  const token = readPrivate(file) ?? makePrivate(file, randomBytes(24).toString('base64url'))
  keepSecret(token)
  return token
}

/** Compares digests: they all have the same length, and comparing them does not reveal where the texts differ. */
export const sameSecret = (secrets: Secrets, left: string, right: string): boolean =>
  timingSafeEqual(Buffer.from(secrets.digest(left)), Buffer.from(secrets.digest(right)))

export interface AccessToken extends Omit<RoleToken, 'token'> {
  /** Identifies the token without revealing anything about it. */
  readonly mark: string
}
export interface AccessTokens {
  /** Returns the matching token; undefined if there is none. */
  find(token: string): AccessToken | undefined
  marked(mark: string): AccessToken | undefined
}

/** Knows no tokens unless AUTH=token. */
export function accessTokens(config: Config, secrets: Secrets): AccessTokens {
  const main = (): RoleToken => ({ name: 'access token', grants: [{ role: 'admin' }], token: accessToken(config) })
  const all = accessMode(config) === 'token' ? [main(), ...config.authTokens] : []
  const known = all.map(({ token, ...rest }) => ({ ...rest, token, mark: secrets.digest(`access token ${token}`) }))
  return {
    find: (token) => known.filter((each) => sameSecret(secrets, each.token, token))[0],
    marked: (mark) => known.find((each) => each.mark === mark),
  }
}
