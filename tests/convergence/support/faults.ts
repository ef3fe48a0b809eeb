/** Puts faulty answers in front of any vendor's server, which need not support them. */
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

export const FAULT_KINDS = ['server error', 'empty answer', 'web page', 'cut off', 'too many requests'] as const
export type FaultKind = (typeof FAULT_KINDS)[number]

export interface FaultyServer {
  readonly url: string
  /** Fails the next requests, `times` in number, whose address or body contains `about`. */
  fail(kind: FaultKind, about: string, times: number): void
  clear(): void
  readonly hasFaults: boolean
  /** For a proxy: the minimum time of an answer, including the time to make it. */
  latencyMilliseconds: number
  /** Called before each request is answered. */
  onRequest: (request: IncomingMessage, body: Buffer) => void
  stop(): Promise<void>
}

export type Respond = (request: IncomingMessage, body: Buffer, response: ServerResponse) => void

const ANSWERS: Record<FaultKind, (response: ServerResponse) => void> = {
  'server error': (response) => {
    response.writeHead(500, { 'content-type': 'application/json' })
    response.end('{"message":"as asked"}')
  },
  'empty answer': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '0' })
    response.end()
  },
  'web page': (response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<html>We will be back soon.</html>')
  },
  'cut off': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
    response.write('[{"id":', () => response.destroy())
  },
  'too many requests': (response) => {
    response.writeHead(429, { 'content-type': 'application/json', 'retry-after': '0' })
    response.end('{"message":"as asked"}')
  },
}

export async function startFaultyServer(respond: Respond): Promise<FaultyServer> {
  let faults: { kind: FaultKind; about: string; left: number }[] = []
  const server = createServer(async (request, response) => {
    try {
      const body = await buffer(request)
      faulty.onRequest(request, body)
      const place = `${decodeURIComponent(request.url ?? '')} ${body}`
      const fault = faults.find(({ about }) => place.includes(about))
      if (!fault) return respond(request, body, response)
      fault.left--
      faults = faults.filter(({ left }) => left > 0)
      ANSWERS[fault.kind](response)
    } catch {
      // The client closed the connection, as a killed client does.
      response.destroy()
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const faulty: FaultyServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    fail: (kind, about, times) => faults.push({ kind, about, left: times }),
    clear: () => {
      faults = []
    },
    get hasFaults() {
      return faults.length > 0
    },
    latencyMilliseconds: 0,
    onRequest: () => {},
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return faulty
}

/** Starts a proxy in front of a fake with its own server. It calls `target` for each request, since each history starts a new fake. */
export async function startFaultyProxy(target: () => string): Promise<FaultyServer> {
  const proxy = await startFaultyServer((request, body, response) => {
    const due = performance.now() + proxy.latencyMilliseconds
    const { host: _, ...headers } = request.headers
    const url = new URL(request.url ?? '/', target())
    const forwarded = httpRequest(url, { method: request.method ?? 'GET', headers }, (answer) => {
      const give = () => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      }
      if (proxy.latencyMilliseconds > 0) setTimeout(give, Math.max(0, due - performance.now()))
      else give()
    })
    forwarded.on('error', () => response.destroy())
    forwarded.end(body)
  })
  return proxy
}
