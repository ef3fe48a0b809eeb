/** How long a client may take, and how many may be there at once: nobody holds a place by doing nothing. */

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
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

/** Of the places for connections; beyond it those that nobody uses at the moment are closed. */
const CROWDED = 0.8

/**
 * Connections hold a place each, also while nothing comes: no request has arrived yet, or half of one. An address that has too
 * many of those loses its oldest, so that whoever comes next, from there too, still gets in. Those that have had their answer,
 * or do not read it, may stay until places run short: then the address with the most of them loses one.
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
    // The last one now.
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
    // At once: several may come before it has ended.
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

  // One that found no place: the next one does.
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
    // What arrives after the answer is no new request.
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
