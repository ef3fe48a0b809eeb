/** The part of Azure DevOps that the plugin uses, over real HTTP: paging, limits, and its sign-in page. */
import { createServer } from 'node:http'
import { listening } from '../support/listening.ts'
import { type Answer, answerTo } from './routes.ts'
import { createWorld, type World } from './world.ts'

export const TOKEN = 'pat-0123456789'
const SIGN_IN = '<html><head><title>Azure DevOps Services | Sign In</title></head><body></body></html>'

export interface Failure {
  readonly path: string
  readonly status: number
  /** Answers with a sign-in page instead of JSON. */
  readonly isPage?: boolean
  /** Applies to all requests from now on. */
  readonly stays?: boolean
}
export type FakeAzureDevops = Awaited<ReturnType<typeof startFakeAzureDevops>>

export async function startFakeAzureDevops() {
  const fake = Object.assign(createWorld() as World, {
    /** The requested paths with their queries, decoded. */
    requests: [] as string[],
    failures: [] as Failure[],
    latencyMilliseconds: 0,
  })
  function answerOf(url: URL, authorization: string | undefined): Answer & { page?: string } {
    const at = fake.failures.findIndex(({ path }) => decodeURIComponent(url.href).includes(path))
    const failure = fake.failures[at]
    if (failure && !failure.stays) fake.failures.splice(at, 1)
    if (failure?.isPage) return { status: failure.status, page: SIGN_IN }
    if (failure) {
      const headers = failure.status === 429 ? { 'retry-after': '0', 'x-ratelimit-remaining': '0' } : {}
      return { status: failure.status, body: { message: 'TF400733: the request was canceled' }, headers }
    }
    if (authorization !== `Basic ${Buffer.from(`:${TOKEN}`).toString('base64')}`) return { status: 203, page: SIGN_IN }
    return answerTo(fake, url)
  }
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://fake')
    fake.requests.push(decodeURIComponent(url.pathname + url.search))
    const { status = 200, body, page, headers = {} } = answerOf(url, request.headers.authorization)
    const type = page ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8; api-version=6.0'
    const give = () => {
      response.writeHead(status, { 'content-type': type, date: fake.now().toUTCString(), ...headers })
      response.end(page ?? JSON.stringify(body))
    }
    if (fake.latencyMilliseconds > 0) setTimeout(give, fake.latencyMilliseconds)
    else give()
  })
  const { url, stop } = await listening(server)
  return Object.assign(fake, { url, stop })
}
