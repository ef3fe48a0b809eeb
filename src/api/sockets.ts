/** Limits how long a client may take and how many may connect at once, so that nobody holds a place by doing nothing. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyHttpOptions } from 'fastify'
import { byName } from '../basics/by-name.ts'
import type { Config } from '../config/config.ts'
import { networkOf } from './access/attempt-limit.ts'
import { envelope } from './envelope.ts'

const CHECK_MS = 1000
/**
 * Limit of a request line with its headers. The values that a dashboard may be asked for fit, even with each character encoded as
 * three.
 */
const LARGEST_HEADERS = 65_536

/** Failures that no route can answer, since there is no request yet: status and message by error code. */
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
  // A client that does not read the refusal either is not waited for.
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

/** Share of the places for connections. Beyond it, connections that nobody uses at the moment are closed. */
const CROWDED = 0.8

/**
 * Every connection holds a place, even while nothing arrives, or only half a request has arrived. An address with too many such
 * connections loses the oldest, so that the next client gets in, also from there. Connections that have had their answer, or do
 * not read it, may stay until places run short. Then the address with the most of them loses one.
 */
export function limitWaiting(server: Server, { unused, all }: { readonly unused: number; readonly all: number }): void {
  const open = new Set<Socket>()
  const asking = new Map<string, Set<Socket>>()
  const idle = new Set<Socket>()
  const addresses = new WeakMap<Socket, string>()
  const addressOf = (socket: Socket) => addresses.get(socket) ?? ''
  const isAsking = (socket: Socket) => {
    idle.delete(socket)
    const own = asking.get(addressOf(socket)) ?? new Set()
    // Removed first, so that the socket becomes the last of the set.
    own.delete(socket)
    asking.set(addressOf(socket), own.add(socket))
    if (own.size > unused) close(own)
  }
  const hasAsked = (socket: Socket) => {
    idle.delete(socket)
    const own = asking.get(addressOf(socket))
    own?.delete(socket)
    if (own?.size === 0) asking.delete(addressOf(socket))
  }
  const forget = (socket: Socket) => {
    hasAsked(socket)
    open.delete(socket)
  }
  const close = ([oldest]: Iterable<Socket>) => {
    if (!oldest) return
    // Forgotten at once, because several more may connect before it has closed.
    forget(oldest)
    oldest.destroy()
  }
  const isAnswered = (socket: Socket) => {
    hasAsked(socket)
    if (!socket.destroyed) idle.add(socket)
  }
  const makeRoom = () => {
    const unneeded = [...open].filter((each) => idle.has(each) || each.writableNeedDrain)
    close(largestOf(Map.groupBy(unneeded, addressOf)))
  }

  // A connection was dropped because there was no place: the next one gets one.
  server.on('drop', makeRoom)
  server.on('connection', (socket: Socket) => {
    addresses.set(socket, networkOf(socket.remoteAddress ?? ''))
    open.add(socket)
    socket.once('close', () => forget(socket))
    if (open.size > CROWDED * all) makeRoom()
    isAsking(socket)
  })
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const isWhole = () => hasAsked(socket)
    if (hasBody(request)) {
      isAsking(socket)
      request.once('end', isWhole)
    } else isWhole()
    // Data that arrives after the answer is not a new request.
    response.once('finish', () => {
      if (request.complete) isAnswered(socket)
      request.off('end', isWhole)
    })
  })
}

const largestOf = (groups: ReadonlyMap<string, readonly Socket[]>): readonly Socket[] =>
  [...groups.values()].reduce((one, other) => (other.length > one.length ? other : one), [])

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
