/** How long a client may take, and how many may be there at once: nobody holds a place by doing nothing. */

import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions } from 'fastify'
import { byName } from '../by-name.ts'
import type { Config } from '../config.ts'
import { networkOf } from './access/attempt-limit.ts'
import { envelope } from './envelope.ts'

const CHECK_MS = 1000
/** Of a request line with its headers: the values that a dashboard may be asked for fit, each character spelled with three. */
const LARGEST_HEADERS = 65_536

/** What cannot be answered by a route, since there is no request yet: status and sentence by the code of the error. */
const TROUBLE: Readonly<Record<string, readonly [status: string, message: string]>> = byName({
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'The request did not arrive in time: send it faster, or less of it.',
  ],
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'The address or the headers are too long: shorten them.',
  ],
})
const MALFORMED = ['400 Bad Request', 'This is not HTTP: correct the request.'] as const

function refuse(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, message] = new Map(Object.entries(TROUBLE)).get(error.code ?? '') ?? MALFORMED
  const body = JSON.stringify(envelope(false, message))
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}`
  socket.end(`${head}\r\nConnection: close\r\n\r\n${body}`)
  // Who does not read the refusal either is not waited for.
  socket.destroySoon()
}

export const socketOptions = (config: Config) =>
  ({
    requestTimeout: config.requestTimeoutMs,
    keepAliveTimeout: config.keepAliveTimeoutMs,
    http: {
      headersTimeout: Math.min(config.headerTimeoutMs, config.requestTimeoutMs),
      connectionsCheckingInterval: CHECK_MS,
      maxHeaderSize: LARGEST_HEADERS,
    },
    clientErrorHandler: refuse,
  }) satisfies FastifyHttpOptions<Server>

/**
 * Connections on which no request has arrived yet hold a place each. An address that opens too many loses its oldest, so
 * that whoever comes next, from there too, still gets in.
 */
export function limitUnused(server: Server, most: number): void {
  const unused = new Map<string, Set<Socket>>()
  const forget = (address: string, socket: Socket) => {
    const own = unused.get(address)
    own?.delete(socket)
    if (own?.size === 0) unused.delete(address)
  }
  const addressOf = new WeakMap<Socket, string>()
  server.on('connection', (socket: Socket) => {
    const address = networkOf(socket.remoteAddress ?? '')
    const own = unused.get(address) ?? new Set()
    unused.set(address, own.add(socket))
    addressOf.set(socket, address)
    socket.once('close', () => forget(address, socket))
    const [oldest] = own
    if (own.size > most) oldest?.destroy()
  })
  server.on('request', ({ socket }) => forget(addressOf.get(socket) ?? '', socket))
}
