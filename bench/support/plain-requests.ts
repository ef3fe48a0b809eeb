/** Sends the requests of a run again, as many at a time, and does nothing with the answers: how close to the floor the same load can come. */
import type { IncomingHttpHeaders } from 'node:http'
import { request } from 'undici'

export interface AskedFor {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Returns seconds. */
export async function plainRequests(all: readonly AskedFor[], atOnce: number): Promise<number> {
  const left = [...all]
  const started = performance.now()
  const ask = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      const { host: _, connection: __, 'content-length': ___, ...headers } = next.headers
      const { body } = await request(next.url, {
        method: next.method as 'GET',
        headers,
        body: next.body === '' ? null : next.body,
      })
      await body.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
  return (performance.now() - started) / 1000
}
