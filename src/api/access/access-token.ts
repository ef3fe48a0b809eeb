/** AUTH=token: one token that opens everything, from AUTH_TOKEN or a file made at first start. */
import { randomBytes, timingSafeEqual } from 'node:crypto'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import { keepSecret } from '../../log.ts'
import { makePrivate, readPrivate } from '../../private-file.ts'
import type { Secrets } from '../../secrets.ts'

export type AccessMode = 'open' | 'none' | 'token' | 'oidc'

/** `open`: nothing was said, so only this machine may ask. */
export function accessMode({ auth, authEnabled, oidcEnabled }: Config): AccessMode {
  if (auth) return auth
  if (!authEnabled) return 'open'
  return oidcEnabled ? 'oidc' : 'token'
}

export const tokenFile = ({ dataFolder }: Config): string => join(dataFolder, 'access-token')

export function accessToken(config: Config): string {
  if (config.authToken) return config.authToken
  const file = tokenFile(config)
  const token = readPrivate(file) ?? makePrivate(file, randomBytes(24).toString('base64url'))
  keepSecret(token)
  return token
}

/** Digests have one length, and comparing them tells nothing about where the texts differ. */
export const sameSecret = (secrets: Secrets, left: string, right: string): boolean =>
  timingSafeEqual(Buffer.from(secrets.digest(left)), Buffer.from(secrets.digest(right)))
