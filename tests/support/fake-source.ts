/** The HTTP side of a small fake. It records requests, answers with faults on demand, and dates its answers by its own clock. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listening } from './listening.ts'

/** A string body is an HTML page for people. */
export type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>]
export interface Fault {
  /** The fault applies to addresses that contain this text. */
  readonly path: string
  readonly answer: Answer
  /** The fault applies to every request, not only to the next one. */
  readonly isLasting?: true
}
export interface FakeSource {
  readonly url: string
  /** The requested addresses, decoded. */
  readonly requests: string[]
  readonly faults: Fault[]
  now: () => Date
  onRequest: (address: string) => void
  stop(): Promise<void>
}

export const SIGN_IN_PAGE = '<!doctype html><html><head><title>Log in</title></head><body></body></html>'

/** Returns the numbered page that a request asks for. */
export function pageOf<Thing>(
  all: readonly Thing[],
  query: URLSearchParams,
  { number = 'page', size = 'per_page', most = 100 } = {},
): Thing[] {
  const length = Math.min(Number(query.get(size) ?? most), most)
  const start = (Number(query.get(number) ?? 1) - 1) * length
  return all.slice(start, start + length)
}

/** Starts the fake. `signature` holds the headers that every request must carry. */
export async function startFakeSource(
  signature: Readonly<Record<string, string>>,
  answerTo: (address: URL, headers: IncomingHttpHeaders) => Answer,
): Promise<FakeSource> {
  const signed = Object.entries(signature)
  const server = createServer((request, response) => {
    const address = new URL(request.url ?? '/', 'http://fake')
    const text = decodeURIComponent(address.pathname + address.search.replaceAll('+', ' '))
    fake.requests.push(text)
    fake.onRequest(text)
    const at = fake.faults.findIndex(({ path }) => text.includes(path))
    const fault = fake.faults[at]
    if (fault && !fault.isLasting) fake.faults.splice(at, 1)
    const isKnown = signed.every(([name, value]) => request.headers[name.toLowerCase()] === value)
    const refusal: Answer = [401, { message: `the fake expects ${signed.map(([name]) => name).join(' and ')}` }]
    const [status, body, headers] = fault?.answer ?? (isKnown ? answerTo(address, request.headers) : refusal)
    const type = typeof body === 'string' ? 'text/html;charset=utf-8' : 'application/json;charset=utf-8'
    response.writeHead(status, { 'content-type': type, date: fake.now().toUTCString(), ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  const fake: FakeSource = {
    ...(await listening(server)),
    requests: [],
    faults: [],
    now: () => new Date(),
    onRequest: () => {},
  }
  return fake
}

export const NOT_FOUND: Answer = [404, { message: 'not found', 'status-code': 404 }]
