import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { RawRecord } from '../../database/table.ts'
import { type ApiClient, type ApiClientOptions, createApiClient } from './api-client.ts'
import type { Clock } from './clock.ts'
import type { HttpEvent } from './http-event.ts'

export const never = new AbortController().signal

export interface Received {
  readonly method: string
  readonly url: URL
  readonly headers: IncomingMessage['headers']
  readonly body: RawRecord
  /** Number of earlier requests. */
  readonly index: number
}

/** The answer of a test server: JSON, or a function that writes the response. */
export type Answer =
  | { status?: number; headers?: Record<string, string>; body?: unknown; text?: string }
  | ((response: ServerResponse) => void)

interface TestServer {
  readonly endpoint: string
  readonly received: readonly Received[]
}

/** A real HTTP server on a free loopback port, closed after the test. */
export async function startServer(answer: (request: Received) => Answer | Promise<Answer>): Promise<TestServer> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const url = new URL(request.url!, `http://${request.headers.host}`)
    const one = {
      method: request.method!,
      url,
      headers: request.headers,
      body: text ? JSON.parse(text) : undefined,
      index: received.length,
    }
    received.push(one)
    const reply = await answer(one)
    // A test about the server's clock sets the header itself.
    response.sendDate = false
    if (typeof reply === 'function') return reply(response)
    response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
    response.end(reply.text ?? (reply.body === undefined ? undefined : JSON.stringify(reply.body)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

interface TestClock extends Clock {
  readonly sleeps: readonly number[]
}

/** A clock whose sleeps take no time, but move the clock. */
export function createTestClock(random = 0): TestClock {
  let now = Date.parse('2026-01-01T00:00:00Z')
  const sleeps: number[] = []
  return {
    sleeps,
    now: () => now,
    random: () => random,
    async sleep(milliseconds, signal) {
      signal.throwIfAborted()
      const end = now + milliseconds
      sleeps.push(milliseconds)
      await new Promise((resolve) => setImmediate(resolve))
      signal.throwIfAborted()
      now = Math.max(now, end)
    },
  }
}

export interface TestClient extends ApiClient {
  readonly events: readonly HttpEvent[]
  readonly clock: TestClock
}

export function createTestClient(endpoint: string, options: Partial<ApiClientOptions> = {}): TestClient {
  const events: HttpEvent[] = []
  const clock = createTestClock()
  const client = createApiClient({
    connection: 'acme',
    endpoint,
    clock,
    sign: (token) => ({ authorization: `Bearer ${token}` }),
    onEvent: (event) => events.push(event),
    ...options,
  })
  onTestFinished(() => client.close())
  return { ...client, events, clock }
}

export const seconds = (time: number) => Math.floor(time / 1000)
