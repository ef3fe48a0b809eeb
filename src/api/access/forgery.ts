/** Pages of other sites must not use a visitor's browser to reach this server. */
import type { FastifyRequest } from 'fastify'
import { UserError } from '../../errors.ts'
import type { AccessMode } from './access-token.ts'

const LOOPBACK = /^(localhost|[\w-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i
const hostOf = (address: string) => URL.parse(address)?.hostname ?? ''

export function requireOwnPage({ headers, method }: FastifyRequest, mode: AccessMode): void {
  // A name that somebody else's server gives out can be made to point here (DNS rebinding).
  if (mode === 'open' && headers.host !== undefined && !LOOPBACK.test(hostOf(`http://${headers.host}`))) {
    throw new UserError(
      'This server answers to localhost only: set AUTH to token or oidc, or to none, to reach it by another name.',
      { status: 403 },
    )
  }
  if (method === 'GET' || method === 'HEAD') return
  const site = headers['sec-fetch-site']
  const isForeign = site
    ? site !== 'same-origin' && site !== 'none'
    : mode === 'open' && headers.origin !== undefined && !LOOPBACK.test(hostOf(headers.origin))
  if (isForeign) throw new UserError('A page of another site may not change anything here.', { status: 403 })
}
