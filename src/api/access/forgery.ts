/** Pages of other sites must not use a visitor's browser to reach this server. */
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../../config/config.ts'
import { UserError } from '../../errors.ts'
import { accessMode } from './access-token.ts'

const LOOPBACK = /^(localhost|[\w-]+\.localhost|127\.\d+\.\d+\.\d+|\[::1\])$/i
const hostOf = (address: string) => URL.parse(address)?.hostname.toLowerCase() ?? ''

/** IP addresses and names without a dot: no public DNS server assigns them, so a page on another site cannot have them. */
const isOwnName = (host: string) => isIP(host.replace(/^\[|\]$/g, '')) !== 0 || /^[\w-]+$/.test(host)

export function ownPageCheck(config: Config): (request: FastifyRequest, isKeyed: boolean) => void {
  const mode = accessMode(config)
  const allowed = [...config.allowedHosts, hostname()].map((name) => name.toLowerCase())
  const isAllowed = (host: string) =>
    LOOPBACK.test(host) || (mode === 'none' && (isOwnName(host) || allowed.includes(host)))
  const isOpen = mode === 'open' || mode === 'none'
  // In these modes the browser itself sends what grants access, and no CSRF token of a session protects changes.
  const isOriginChecked = isOpen || config.proxyIdentitySecret !== undefined

  function isForeign({ headers, host: sentTo }: FastifyRequest): boolean {
    const site = headers['sec-fetch-site']
    if (site !== undefined) return site !== 'same-origin' && site !== 'none'
    if (!isOriginChecked || headers.origin === undefined) return false
    const origin = hostOf(headers.origin)
    if (LOOPBACK.test(origin) && isOpen) return false
    const own = [headers.host ?? '', sentTo].map((name) => hostOf(`http://${name}`))
    return origin === '' || !(own.includes(origin) || allowed.includes(origin))
  }

  return (request, isKeyed) => {
    const { host } = request.headers
    // Anybody's DNS server can make its names point here (DNS rebinding). Requests with a key may pass: no page knows a key.
    if (isOpen && !isKeyed && host !== undefined && !isAllowed(hostOf(`http://${host}`))) {
      throw new UserError(
        mode === 'open'
          ? 'This server answers to localhost only: set AUTH to token or oidc, or to none, to reach it by another name.'
          : 'This server does not answer to that name: add it to ALLOWED_HOSTS.',
        { status: 403 },
      )
    }
    if (request.method === 'GET' || request.method === 'HEAD') return
    if (isForeign(request)) {
      throw new UserError('A page of another site may not change anything here.', { status: 403 })
    }
  }
}
