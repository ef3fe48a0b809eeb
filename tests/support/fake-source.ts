/** The HTTP side of a small fake: what is asked is recorded, faults come on demand, and answers bear the date of its clock. */
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { listening } from './listening.ts'

/** Texts are pages for people. */
export type Answer = readonly [status: number, body: unknown, headers?: Readonly<Record<string, string>>]
export interface Fault {
  /** Part of the address that it befalls. */
  readonly path: string
  readonly answer: Answer
  /** Stays instead of befalling one request. */
  readonly isLasting?: true
}
export interface FakeSource {
  readonly url: string
  /** Addresses asked for, decoded. */
  readonly requests: string[]
  readonly faults: Fault[]
  now: () => Date
  onRequest: (address: string) => void
  stop(): Promise<void>
}

export const SIGN_IN_PAGE = '<!doctype html><html><head><title>Log in</title></head><body></body></html>'

/** The numbered page that a request asks for. */
export function pageOf<Thing>(
  all: readonly Thing[],
  query: URLSearchParams,
  { number = 'page', size = 'per_page', most = 100 } = {},
): Thing[] {
  const length = Math.min(Number(query.get(size) ?? most), most)
  const start = (Number(query.get(number) ?? 1) - 1) * length
  return all.slice(start, start + length)
}

/** `authorization` is what requests must carry. */
export async function startFakeSource(
  authorization: string,
  answerTo: (address: URL, headers: IncomingHttpHeaders) => Answer,
): Promise<FakeSource> {
  const server = createServer((request, response) => {
    const address = new URL(request.url ?? '/', 'http://fake')
    const text = decodeURIComponent(address.pathname + address.search.replaceAll('+', ' '))
    fake.requests.push(text)
    fake.onRequest(text)
    const at = fake.faults.findIndex(({ path }) => text.includes(path))
    const fault = fake.faults[at]
    if (fault && !fault.isLasting) fake.faults.splice(at, 1)
    const isKnown = request.headers.authorization === authorization
    const [status, body, headers] = fault?.answer ?? (isKnown ? answerTo(address, request.headers) : [401, {}])
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
