/** The vendor of the fleet plugin: slow, and with a quota for each token. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { PAGE } from '../workers/support/fleet-plugin.ts'

export interface FakeFleet {
  readonly url: string
  readonly itemsPerBoard: number
  readonly pagesPerBoard: number
  /** Every request that was answered with records, as `board/page`. */
  readonly answered: string[]
  /** The number of received requests. */
  asked: number
  /** The number of requests beyond the quota. */
  refused: number
  latencyMs: number
  /** Boards that are answered without delay. */
  quick: ReadonlySet<number>
  /** Answers everything with this status. 0 means normal answers. */
  status: number
  /** The number of requests per token and window. 0 means that the vendor mentions no quota. */
  limit: number
  windowMs: number
  close(): void
}

export async function startFakeFleet(itemsPerBoard = 5): Promise<FakeFleet> {
  const windows = new Map<string, { used: number; endsAt: number }>()
  const fake = {
    url: '',
    itemsPerBoard,
    pagesPerBoard: Math.ceil(itemsPerBoard / PAGE),
    answered: [] as string[],
    asked: 0,
    refused: 0,
    latencyMs: 50,
    status: 0,
    quick: new Set<number>(),
    limit: 0,
    windowMs: 3_600_000,
    close: () => {},
  }
  /** Requests count when they arrive, as with real vendors. */
  function spend(token: string) {
    let window = windows.get(token)
    if (!window || Date.now() >= window.endsAt) {
      window = { used: 0, endsAt: Math.ceil((Date.now() + fake.windowMs) / 1000) * 1000 }
      windows.set(token, window)
    }
    window.used++
    return window
  }
  const server = createServer(async (request, response) => {
    fake.asked++
    const { used, endsAt } = spend(String(request.headers.authorization))
    const headers = {
      'content-type': 'application/json',
      ...(fake.limit > 0 && {
        'x-ratelimit-limit': String(fake.limit),
        'x-ratelimit-remaining': String(Math.max(0, fake.limit - used)),
        'x-ratelimit-reset': String(endsAt / 1000),
      }),
    }
    if (fake.limit > 0 && used > fake.limit) {
      fake.refused++
      response.writeHead(429, headers).end('{"message": "budget spent"}')
      return
    }
    if (fake.status > 0) {
      response.writeHead(fake.status, { ...headers, 'retry-after': '3' }).end('{"message": "not now"}')
      return
    }
    const url = new URL(request.url ?? '/', 'http://localhost')
    const board = Number(/^\/boards\/(\d+)\/items$/.exec(url.pathname)?.[1])
    if (!fake.quick.has(board)) await sleep(fake.latencyMs)
    const page = Number(url.searchParams.get('page') ?? 1)
    const first = (page - 1) * PAGE
    const numbers = Array.from(
      { length: Math.max(0, Math.min(PAGE, itemsPerBoard - first)) },
      (_, index) => first + index,
    )
    fake.answered.push(`${board}/${page}`)
    response
      .writeHead(200, headers)
      .end(JSON.stringify(numbers.map((number) => ({ id: board * 1000 + number, title: `item ${number}` }))))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  fake.close = () => {
    server.close()
    server.closeAllConnections()
  }
  return fake
}
